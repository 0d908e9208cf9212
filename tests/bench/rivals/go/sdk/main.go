// SPDX-License-Identifier: BSD-2-Clause

// What OpenTelemetry's Go SDK takes for the span that tests/bench measures: three annotations (events), three tags
// (attributes). Prints nanoseconds a span: wall of the calling goroutine, and CPU of the whole process, until all is exported.
//
//	sdk null|http://… SPANS [SPANS_A_SECOND]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Then the exporter gets time, so that its queue does not run over.
const pauseEvery = 1000

type null struct{ spans atomic.Int64 }

func (n *null) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	n.spans.Add(int64(len(spans)))
	return nil
}

func (n *null) Shutdown(context.Context) error { return nil }

func cpu() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		log.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

func span(ctx context.Context, tracer trace.Tracer) {
	_, span := tracer.Start(ctx, "read", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("object", "rbd_data.10226b8b4567.000000000000042a"),
		attribute.String("pool", "rbd"),
		attribute.Int64("bytes", 4194304)))
	span.AddEvent("request decoded")
	span.AddEvent("cache miss")
	span.AddEvent("reply sent")
	span.End()
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: sdk null|URL SPANS [SPANS_A_SECOND]")
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	pause := 2 * time.Millisecond
	if len(os.Args) > 3 {
		rate, err := strconv.Atoi(os.Args[3])
		if err != nil || rate <= 0 {
			log.Fatal("a rate is a positive number")
		}
		pause = time.Second * pauseEvery / time.Duration(rate)
	}
	ctx, counted := context.Background(), &null{}
	var exporter sdk.SpanExporter = counted
	if os.Args[1] != "null" {
		exporter, err = otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(os.Args[1]+"/v1/traces"))
		if err != nil {
			log.Fatal(err)
		}
	}
	// the queue is large enough that nothing is dropped
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(1<<20)))
	tracer := provider.Tracer("bench")
	runtime.LockOSThread()
	before, wall, next := cpu(), time.Duration(0), time.Now()
	for done := 0; done < count; done += pauseEvery {
		begun := time.Now()
		for range pauseEvery {
			span(ctx, tracer)
		}
		wall += time.Since(begun)
		next = next.Add(pause)
		time.Sleep(max(time.Until(next), time.Millisecond))
	}
	if err := provider.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	if os.Args[1] == "null" && counted.spans.Load() < int64(count) {
		log.Fatalf("%d of %d spans were exported", counted.spans.Load(), count)
	}
	fmt.Printf("%.1f %.1f\n", float64(wall.Nanoseconds())/float64(count), float64(cpu()-before)/float64(count))
}
