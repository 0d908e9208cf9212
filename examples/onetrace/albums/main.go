// SPDX-License-Identifier: BSD-2-Clause

// The second of four services that a request goes through: OpenTelemetry's SDK for Go, which hands its spans to the agent's
// input otlp-grpc, as that is where it looks for a collector: at $OTEL_EXPORTER_OTLP_ENDPOINT, or localhost:4317.
//
//	albums PORT NEXT
package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func start(ctx context.Context) *sdk.TracerProvider {
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "albums"))))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider
}

// The handler's span is in the request's context, from which the client takes it.
func photo(client *http.Client, next string) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		url := "http://127.0.0.1:" + next + request.URL.Path
		ask, _ := http.NewRequestWithContext(request.Context(), http.MethodGet, url, nil)
		got, err := client.Do(ask)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadGateway)
			return
		}
		defer got.Body.Close()
		trace.SpanFromContext(request.Context()).AddEvent("found", trace.WithAttributes(attribute.String("album", "holidays")))
		answer.WriteHeader(got.StatusCode)
		io.Copy(answer, got.Body)
	}
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: albums PORT NEXT")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	provider := start(ctx)
	client := &http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport)}
	server := http.Server{Addr: "127.0.0.1:" + os.Args[1], Handler: otelhttp.NewHandler(photo(client, os.Args[2]), "album")}
	go func() {
		<-ctx.Done()
		server.Shutdown(context.Background())
	}()
	log.Print(server.ListenAndServe())
	provider.Shutdown(context.Background()) // hands over what it still has
}
