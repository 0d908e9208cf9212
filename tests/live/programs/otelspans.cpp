/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with OpenTelemetry's SDK, whose spans go through the bridge, over OTLP/HTTP, or both at once.
 *
 *     otelspans shapes PORT         spans of all shapes, through both
 *     otelspans crash bridge COUNT  so many spans, and then a crash
 *     otelspans crash batch COUNT PORT
 *     otelspans cost bridge|own|none COUNT   what a span costs: ns of CPU of the process, and of the thread
 *     otelspans cost batch COUNT PORT
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include <opentelemetry/exporters/otlp/otlp_http_exporter_factory.h>
#include <opentelemetry/exporters/otlp/otlp_http_exporter_options.h>
#include <opentelemetry/sdk/trace/batch_span_processor_factory.h>
#include <opentelemetry/sdk/trace/batch_span_processor_options.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/sdk/trace/tracer_provider_factory.h>
#include <opentelemetry/trace/context.h>
#include <opentelemetry/trace/default_span.h>
#include <opentelemetry/trace/propagation/http_trace_context.h>
#include <opentelemetry/trace/span_startoptions.h>

#include <blkin/blkin.h>
#include <blkin/otel.hpp>

namespace api = opentelemetry;
namespace otlp = opentelemetry::exporter::otlp;
namespace sdk = opentelemetry::sdk;
namespace trace = opentelemetry::trace;
using api::nostd::span;
using api::nostd::string_view;
using Processor = std::unique_ptr<sdk::trace::SpanProcessor>;
using Attributes = std::vector<std::pair<string_view, api::common::AttributeValue>>;
using Link = std::pair<trace::SpanContext, Attributes>;
using Tracer = api::nostd::shared_ptr<trace::Tracer>;

static Processor batch(const char *port)
{
	otlp::OtlpHttpExporterOptions options;

	options.url = std::string("http://127.0.0.1:") + port + "/v1/traces";
	options.content_type = otlp::HttpRequestContentType::kBinary;
	return sdk::trace::BatchSpanProcessorFactory::Create(
		otlp::OtlpHttpExporterFactory::Create(options), sdk::trace::BatchSpanProcessorOptions());
}

static sdk::resource::Resource resource()
{
	static const string_view zones[] = {"a", "b,c", ""};
	static const int64_t ports[] = {1, 2};
	sdk::resource::ResourceAttributes attributes;

	attributes.SetAttribute("service.name", "shapes");
	attributes.SetAttribute("service.version", "1.2\n3");
	attributes.SetAttribute("deployment.environment", "");
	attributes.SetAttribute("cpus", int64_t{64});
	attributes.SetAttribute("ratio", 0.25);
	attributes.SetAttribute("spare", false);
	attributes.SetAttribute("zones", span<const string_view>(zones));
	attributes.SetAttribute("ports", span<const int64_t>(ports));
	return sdk::resource::Resource::Create(attributes, "https://example.org/resource");
}

static std::unique_ptr<trace::TracerProvider> provide(std::vector<Processor> &&processors)
{
	return sdk::trace::TracerProviderFactory::Create(std::move(processors), resource());
}

static std::unique_ptr<trace::TracerProvider> provide(Processor processor)
{
	std::vector<Processor> processors;

	processors.push_back(std::move(processor));
	return provide(std::move(processors));
}

/* Every shape */

static trace::SpanContext context_of(uint8_t first, const char *state, bool sampled, bool remote)
{
	const uint8_t id[16] = {first, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

	return trace::SpanContext(trace::TraceId(id), trace::SpanId(span<const uint8_t, 8>(id, 8)),
		trace::TraceFlags(sampled ? trace::TraceFlags::kIsSampled : 0), remote,
		trace::TraceState::FromHeader(state));
}

static void set_every_type(trace::Span &to)
{
	static const bool bools[] = {true, false};
	static const int32_t ints[] = {-1, 0, 2147483647};
	static const int64_t longs[] = {INT64_MIN, INT64_MAX};
	static const uint32_t unsigneds[] = {0, UINT32_MAX};
	static const uint64_t huge[] = {0, INT64_MAX};
	static const uint8_t bytes[] = {0, 255};
	static const double doubles[] = {0.1, -1e300, 5e-324, 1e22, -0.0, 3};
	static const string_view texts[] = {
		"plain", "with, comma", "", "two\nlines", "back\\slash\\n", "\xc3\xa9\xe2\x82\xac"};

	to.SetAttribute("bool", true);
	to.SetAttribute("int", int32_t{-5});
	to.SetAttribute("long", INT64_MIN);
	to.SetAttribute("unsigned", UINT32_MAX);
	to.SetAttribute("huge", uint64_t{INT64_MAX});
	to.SetAttribute("double", 0.1);
	to.SetAttribute("whole double", 3.0);
	to.SetAttribute("small double", 5e-324);
	to.SetAttribute("large double", 1.7976931348623157e308);
	to.SetAttribute("chars", static_cast<const char *>("chars"));
	to.SetAttribute("view", string_view("view of more", 4));
	to.SetAttribute("bools", span<const bool>(bools));
	to.SetAttribute("ints", span<const int32_t>(ints));
	to.SetAttribute("longs", span<const int64_t>(longs));
	to.SetAttribute("unsigneds", span<const uint32_t>(unsigneds));
	to.SetAttribute("huges", span<const uint64_t>(huge));
	to.SetAttribute("bytes", span<const uint8_t>(bytes));
	to.SetAttribute("doubles", span<const double>(doubles));
	to.SetAttribute("texts", span<const string_view>(texts));
	to.SetAttribute("no ints", span<const int32_t>());
	to.SetAttribute("no texts", span<const string_view>());
	to.SetAttribute("one empty text", span<const string_view>(&texts[2], 1));
}

static void set_odd_texts(trace::Span &to)
{
	static const string_view nul("a\0b", 3);

	to.SetAttribute("empty", "");
	to.SetAttribute("line\nbreak", "line\nbreak\n");
	to.SetAttribute("nul", nul);
	to.SetAttribute("equals=in=key", "=");
	to.SetAttribute("back\\slash", "\\n\\\\");
	to.SetAttribute("unicode \xe2\x98\x83", "\xf0\x9f\x9a\x80 \xce\xb1\xce\xb2\xce\xb3");
	to.SetAttribute("error", "an attribute, no status");
	for (const char *key : {"#hash", "#i", "+plus", "-minus", "@at", "!note", "&and", "~tilde", " blank",
		     "#\\t", "#!sdk"}) {
		to.SetAttribute(key, "text");
		to.SetAttribute(std::string(key) + " number", int64_t{7});
	}
}

static void add_events(trace::Span &to)
{
	const std::vector<std::string> lines = {"two\nlines", "back\\slash", ""};

	to.AddEvent("plain");
	to.AddEvent("with attributes",
		{{"int", 1}, {"text", "a\nb"}, {"key=\n", "v"}, {"double", 2.5}, {"yes", true}});
	to.AddEvent("at a time",
		std::chrono::system_clock::time_point(std::chrono::nanoseconds(1700000000123456789)));
	to.AddEvent("at a time, with attributes",
		std::chrono::system_clock::time_point(std::chrono::nanoseconds(1700000000123456790)),
		{{"k", "v"}});
	to.AddEvent("unset", api::common::SystemTimestamp{}, {{"of", "1970"}});
	to.AddEvent("unset\nlines", api::common::SystemTimestamp{});
	for (const auto &line : lines)
		to.AddEvent(line, {{"of", string_view(line)}});
}

static void record_kinds(const Tracer &tracer)
{
	const trace::SpanKind kinds[] = {trace::SpanKind::kInternal, trace::SpanKind::kServer,
		trace::SpanKind::kClient, trace::SpanKind::kProducer, trace::SpanKind::kConsumer};

	for (auto kind : kinds) {
		trace::StartSpanOptions options;

		options.kind = kind;
		tracer->StartSpan("kind",
			      {{"server.address", "10.0.0.9"}, {"server.port", 443},
				      {"peer.service", "peer"}},
			      options)
			->End();
	}
}

static void record_statuses(const Tracer &tracer)
{
	const std::tuple<trace::StatusCode, const char *> statuses[] = {{trace::StatusCode::kUnset, ""},
		{trace::StatusCode::kOk, ""}, {trace::StatusCode::kError, ""},
		{trace::StatusCode::kError, "it\nbroke"}, {trace::StatusCode::kError, "\xe2\x98\x83"}};

	for (auto [code, message] : statuses) {
		auto one = tracer->StartSpan("status");

		one->SetStatus(code, message);
		one->End();
	}
	auto twice = tracer->StartSpan("status that changes");
	twice->SetStatus(trace::StatusCode::kError, "first");
	twice->SetStatus(trace::StatusCode::kOk);
	twice->End();
}

static void record_links(const Tracer &tracer)
{
	const std::vector<Link> links = {{context_of(1, "vendor=a", true, false), {{"k", "v\n"}, {"n", 1}}},
		{context_of(2, "", false, true), {}},
		{context_of(3, "a=1,b=2", true, true), {{"list", true}}}};

	tracer->StartSpan("links", Attributes{{"own", 1}}, links)->End();
}

/* So many that some end where the room does, whose size no program is told: at each byte of a link's line. */
static void record_many_links(const Tracer &tracer)
{
	const std::vector<Link> links(20, Link{context_of(5, "", true, false), {}});

	for (size_t size = 0; size < 62; size++) {
		const std::string own(size, 'o');

		tracer->StartSpan("many links", Attributes{{"own", string_view(own)}}, links)->End();
	}
}

static void record_parents(const Tracer &tracer)
{
	for (auto state : {"", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"}) {
		trace::StartSpanOptions options;

		options.parent = context_of(4, state, true, true);
		options.kind = trace::SpanKind::kServer;
		auto server = tracer->StartSpan("remote parent", options);
		trace::StartSpanOptions inner;

		inner.parent = server->GetContext();
		tracer->StartSpan("child", inner)->End();
		server->End();
	}
}

static void record_times(const Tracer &tracer)
{
	using std::chrono::nanoseconds;
	trace::StartSpanOptions options;
	trace::EndSpanOptions end;

	options.start_system_time = std::chrono::system_clock::time_point(nanoseconds(1500000000987654321));
	options.start_steady_time = std::chrono::steady_clock::time_point(nanoseconds(1000000000));
	end.end_steady_time = std::chrono::steady_clock::time_point(nanoseconds(1000000001));
	tracer->StartSpan("long ago", options)->End(end);
	end.end_steady_time = std::chrono::steady_clock::time_point(nanoseconds(1000000000));
	tracer->StartSpan("no duration", options)->End(end);
	end.end_steady_time = std::chrono::steady_clock::time_point(nanoseconds(90000000000000));
	auto event = tracer->StartSpan("a day", options);
	event->AddEvent("before", std::chrono::system_clock::time_point(nanoseconds(1500000000987654320)));
	event->End(end);
	options.start_system_time = std::chrono::system_clock::time_point(nanoseconds(2500000000000000001));
	tracer->StartSpan("in the future", options)->End(end);
}

static void record_long(const Tracer &tracer)
{
	for (size_t size : {500, 1100, 5000, 30000, 33000, 100000, 250000}) {
		const std::string value = std::string(size - 1, 'x') + "\n", breaks(size / 3, '\n');
		auto one = tracer->StartSpan("long " + std::to_string(size));

		one->SetAttribute("before", 1);
		one->SetAttribute("long", string_view(value));
		one->AddEvent("long", {{"of", string_view(value.data(), size / 10)}});
		one->SetAttribute("breaks", string_view(breaks.data(), size / 10));
		one->SetAttribute("after", 2);
		one->End();
	}
	const std::string part(20000, 'x');
	auto much = tracer->StartSpan("too much");
	for (int i = 0; i < 40; i++)
		much->SetAttribute(std::to_string(i), string_view(part));
	much->SetAttribute("small", 1);
	much->SetStatus(trace::StatusCode::kError, string_view(part));
	much->End();
	auto many = tracer->StartSpan("many");
	for (int i = 0; i < 3000; i++)
		many->SetAttribute("key " + std::to_string(i), i);
	for (int i = 0; i < 1500; i++)
		many->AddEvent("event " + std::to_string(i), {{"n", i}, {"text", "x"}});
	many->End();
}

static void record_names(const Tracer &tracer)
{
	const std::string names[] = {"", "n", std::string(63, 'n'), std::string(95, 'n'),
		std::string(96, 'n'), std::string(3000, 'n'), "two\nlines", "\xe2\x98\x83 = \\ #!"};

	for (const auto &name : names)
		tracer->StartSpan(string_view(name))->End();
	for (const auto &name : names) {
		auto one = tracer->StartSpan("renamed");

		one->SetAttribute("k", "v");
		one->UpdateName(string_view(name));
		one->End();
	}
}

static void record_shapes(const Tracer &tracer)
{
	auto types = tracer->StartSpan("types");
	set_every_type(*types);
	types->End();
	auto texts = tracer->StartSpan("texts");
	set_odd_texts(*texts);
	texts->End();
	auto events = tracer->StartSpan("events");
	add_events(*events);
	events->End();
	record_kinds(tracer);
	record_statuses(tracer);
	record_links(tracer);
	record_many_links(tracer);
	record_parents(tracer);
	record_times(tracer);
	record_long(tracer);
	record_names(tracer);
}

static int shapes(const char *port)
{
	std::vector<Processor> processors;
	std::unique_ptr<trace::TracerProvider> provider;

	processors.push_back(blkin::make_otel_processor());
	processors.push_back(batch(port));
	provider = provide(std::move(processors));
	record_shapes(provider->GetTracer("shapes", "1.0", "https://example.org/scope"));
	provider->GetTracer("")->StartSpan("of no scope")->End();
	provider->GetTracer("two\nlines", "", "")->StartSpan("of an odd scope")->End();
	static_cast<sdk::trace::TracerProvider &>(*provider).ForceFlush(std::chrono::seconds(20));
	return 0;
}

/* The span that tests/bench measures: three events, three attributes. */

static void record_one(trace::Tracer &tracer, long number)
{
	trace::StartSpanOptions options;

	options.kind = trace::SpanKind::kServer;
	auto one = tracer.StartSpan("read",
		{{"object", "rbd_data.10226b8b4567.000000000000042a"},
			{"number", static_cast<int64_t>(number)}, {"bytes", int64_t{4194304}}},
		options);
	one->AddEvent("request decoded");
	one->AddEvent("cache miss");
	one->AddEvent("reply sent");
	one->End();
}

/* The same by <blkin/span.h>. */
static void record_own(long number)
{
	static const struct blkin_endpoint here = {nullptr, 0, "shapes"};
	struct blkin_span one;

	blkin_span_start(&one, BLKIN_SERVER, "read", &here, nullptr);
	blkin_span_tag(&one, "object", "rbd_data.10226b8b4567.000000000000042a");
	blkin_span_tag_int(&one, "number", number);
	blkin_span_tag_int(&one, "bytes", 4194304);
	blkin_span_annotate(&one, "request decoded");
	blkin_span_annotate(&one, "cache miss");
	blkin_span_annotate(&one, "reply sent");
	blkin_span_finish(&one);
}

static Processor processor(const std::string &way, const char *port)
{
	Processor made = way == "batch" ? batch(port) : blkin::make_otel_processor();

	if (way == "none") /* what the SDK does by itself */
		made->Shutdown();
	return made;
}

static int crash(const std::string &way, long count, const char *port)
{
	auto provider = provide(processor(way, port));
	auto tracer = provider->GetTracer("shapes", "1.0");

	for (long i = 0; i < count; i++)
		record_one(*tracer, i);
	std::raise(SIGSEGV);
	return 1;
}

static double cpu(clockid_t clock)
{
	timespec time;

	clock_gettime(clock, &time);
	return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/* In bursts, so that no queue and no ring runs over. */
static int cost(const std::string &way, long count, const char *port)
{
	const long burst = 1000;
	std::unique_ptr<trace::TracerProvider> provider;
	Tracer tracer;
	double process = cpu(CLOCK_PROCESS_CPUTIME_ID), thread = cpu(CLOCK_THREAD_CPUTIME_ID);

	if (way != "own") {
		provider = provide(processor(way, port));
		tracer = provider->GetTracer("shapes", "1.0");
	}
	for (long i = 0; i < count; i++) {
		if (way == "own")
			record_own(i);
		else
			record_one(*tracer, i);
		if (i % burst == burst - 1)
			std::this_thread::sleep_for(std::chrono::milliseconds(way == "batch" ? 20 : 2));
	}
	if (provider)
		static_cast<sdk::trace::TracerProvider &>(*provider).ForceFlush(std::chrono::seconds(20));
	std::printf("%.1f %.1f\n", (cpu(CLOCK_PROCESS_CPUTIME_ID) - process) / static_cast<double>(count),
		(cpu(CLOCK_THREAD_CPUTIME_ID) - thread) / static_cast<double>(count));
	return 0;
}

int main(int argc, char **argv)
{
	const std::string what = argc > 1 ? argv[1] : "";
	const char *port = argc > 4 ? argv[4] : "0";

	if (what == "shapes" && argc == 3)
		return shapes(argv[2]);
	if (what == "crash" && argc >= 4)
		return crash(argv[2], std::atol(argv[3]), port);
	if (what == "cost" && argc >= 4)
		return cost(argv[2], std::atol(argv[3]), port);
	return 64;
}
