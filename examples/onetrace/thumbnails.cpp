// SPDX-License-Identifier: BSD-2-Clause
//
// The third of four services that a request goes through: OpenTelemetry's SDK for C++, whose spans go through
// <blkin/otel.hpp> to the agent. No exporter, no queue, no thread: but for main, it is a program as any
// other.
//
//     thumbnails PORT NEXT
#include <opentelemetry/sdk/resource/resource.h>
#include <opentelemetry/sdk/trace/samplers/always_on_factory.h>
#include <opentelemetry/sdk/trace/samplers/parent_factory.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/sdk/trace/tracer_provider_factory.h>
#include <opentelemetry/trace/context.h>
#include <opentelemetry/trace/propagation/http_trace_context.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/scope.h>

#include <blkin/otel.hpp>

#include "http.h"

namespace sdk = opentelemetry::sdk;
namespace trace = opentelemetry::trace;
using opentelemetry::context::Context;
using opentelemetry::nostd::string_view;
using Tracer = opentelemetry::nostd::shared_ptr<trace::Tracer>;

// How the SDK reads headers of what has come, and writes those of what goes out.
class Headers final : public opentelemetry::context::propagation::TextMapCarrier
{
      public:
	explicit Headers(const char *head = "") : head_(head)
	{
	}

	string_view Get(string_view key) const noexcept override
	{
		size_t size;
		const char *value = http_header(head_, std::string(key).c_str(), &size);

		return {value, size};
	}

	void Set(string_view key, string_view value) noexcept override
	{
		lines += std::string(key) + ": " + std::string(value) + "\r\n";
	}

	std::string lines;

      private:
	const char *head_;
};

static trace::propagation::HttpTraceContext propagator;

static int ask_next(const Tracer &tracer, int next, int photo, char *answer)
{
	const std::string path = "/photos/" + std::to_string(photo);
	trace::StartSpanOptions options;
	Headers headers;

	options.kind = trace::SpanKind::kClient;
	auto span = tracer->StartSpan("GET",
		{{"server.address", "127.0.0.1"}, {"server.port", next}, {"peer.service", "store"}}, options);
	Context context;
	propagator.Inject(headers, trace::SetSpan(context, span));
	const int code = http_get(next, path.c_str(), headers.lines.c_str(), answer);
	span->SetAttribute("http.response.status_code", code);
	if (code != 200)
		span->SetStatus(trace::StatusCode::kError, code ? "refused" : "no answer");
	span->End();
	return code ? code : 502;
}

static void serve(const Tracer &tracer, int fd, int next)
{
	char head[HTTP_MAX], answer[HTTP_MAX];
	trace::StartSpanOptions options;
	Context nothing;

	if (!http_read(fd, head, "\r\n\r\n"))
		return;
	options.kind = trace::SpanKind::kServer;
	options.parent = propagator.Extract(Headers(head), nothing);
	auto span = tracer->StartSpan("GET /photos", {{"photo", http_photo(head)}}, options);
	trace::Scope scope(span); // the spans within it are its children
	const int code = ask_next(tracer, next, http_photo(head), answer);
	span->AddEvent("scaled", {{"width", 128}, {"height", 96}});
	http_answer(fd, code, answer);
}

int main(int argc, char **argv)
{
	int listener, fd;

	if (argc != 3) {
		std::fprintf(stderr, "usage: thumbnails PORT NEXT\n");
		return 64;
	}
	// those whose caller is not traced are not, either
	auto sampler =
		sdk::trace::ParentBasedSamplerFactory::Create(sdk::trace::AlwaysOnSamplerFactory::Create());
	auto resource = sdk::resource::Resource::Create({{"service.name", "thumbnails"}});
	std::shared_ptr<trace::TracerProvider> provider = sdk::trace::TracerProviderFactory::Create(
		blkin::make_otel_processor(), resource, std::move(sampler));
	trace::Provider::SetTracerProvider(provider);
	auto tracer = trace::Provider::GetTracerProvider()->GetTracer("thumbnails");
	for (listener = wire_listen(std::atoi(argv[1])); (fd = accept(listener, nullptr, nullptr)) >= 0;
		close(fd))
		serve(tracer, fd, std::atoi(argv[2]));
	wire_die("cannot accept");
}
