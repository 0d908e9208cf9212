// SPDX-License-Identifier: BSD-2-Clause

// As program.py, with Go's SDK: sdk-go http|grpc PORT PROCESS COUNT.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
)

const rate = 2000 // spans a second

var failed atomic.Int64 // tries that had another answer than OK, or none

type transport struct{}

func (transport) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		failed.Add(1)
	}
	return answer, err
}

func intercept(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, connection, options...)
	if err != nil {
		failed.Add(1)
	}
	return err
}

// Exports by another one, from one goroutine at a time.
type watched struct {
	trace.SpanExporter
	GivenUp  []int `json:"given_up"`
	Doubtful []int `json:"doubtful"`
}

func (w *watched) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	before := failed.Load()
	err := w.SpanExporter.ExportSpans(ctx, spans)
	for _, span := range spans {
		for _, one := range span.Attributes() {
			if one.Key != "ordinal" {
				continue
			}
			ordinal, _ := strconv.Atoi(one.Value.AsString())
			if err != nil {
				w.GivenUp = append(w.GivenUp, ordinal)
			} else if failed.Load() != before {
				w.Doubtful = append(w.Doubtful, ordinal)
			}
		}
	}
	return err
}

func exporter(ctx context.Context, way, address string) (trace.SpanExporter, error) {
	if way == "http" {
		return otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure(),
			otlptracehttp.WithHTTPClient(&http.Client{Transport: transport{}}))
	}
	return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(address), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithDialOption(grpc.WithUnaryInterceptor(intercept)))
}

// Spans with all that the API can say.
func fields(ctx context.Context, tracer api.Tracer) {
	ctx, root := tracer.Start(ctx, "größer", api.WithSpanKind(api.SpanKindServer),
		api.WithAttributes(attribute.String("text", "文字 \"quoted\"\n")))
	root.SetAttributes(attribute.Int64("int", math.MinInt64), attribute.Float64("double", 0.1), attribute.Bool("yes", true),
		attribute.StringSlice("texts", []string{"one", ""}), attribute.Int64Slice("ints", []int64{1, -2}),
		attribute.Float64Slice("doubles", []float64{1e300, -0.5}), attribute.BoolSlice("bools", []bool{true, false}))
	root.AddEvent("there", api.WithAttributes(attribute.Int("n", 1)))
	root.RecordError(errors.New("it broke"))
	link := api.Link{SpanContext: root.SpanContext(), Attributes: []attribute.KeyValue{attribute.String("why", "because")}}
	_, child := tracer.Start(ctx, "child", api.WithSpanKind(api.SpanKindClient), api.WithLinks(link))
	child.SetStatus(codes.Error, "no answer")
	child.End()
	root.SetStatus(codes.Ok, "")
	root.End()
}

func load(ctx context.Context, tracer api.Tracer, process string, count int) {
	began := time.Now()
	for ordinal := range count {
		_, span := tracer.Start(ctx, "sent")
		span.SetAttributes(attribute.String("worker", process+".0"), attribute.String("ordinal", strconv.Itoa(ordinal)),
			attribute.String("start", strconv.FormatInt(time.Now().UnixNano(), 10)))
		span.End()
		time.Sleep(time.Until(began.Add(time.Duration(ordinal) * time.Second / rate)))
	}
}

func main() {
	ctx, process := context.Background(), os.Args[3]
	count, _ := strconv.Atoi(os.Args[4])
	to, err := exporter(ctx, os.Args[1], "127.0.0.1:"+os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	seen := &watched{SpanExporter: to, GivenUp: []int{}, Doubtful: []int{}}
	provider := trace.NewTracerProvider(
		trace.WithBatcher(seen, trace.WithMaxQueueSize(1000000), trace.WithBatchTimeout(100*time.Millisecond)),
		trace.WithResource(resource.NewSchemaless(attribute.String("service.name", "sdk"+process))))
	tracer := provider.Tracer("sdk", api.WithInstrumentationVersion("1.2"))
	if os.Args[4] == "fields" {
		fields(ctx, tracer)
	} else {
		load(ctx, tracer, process, count)
	}
	if err := provider.Shutdown(ctx); err != nil {
		log.Print(err)
	}
	json.NewEncoder(os.Stdout).Encode(seen)
}
