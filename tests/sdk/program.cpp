/* SPDX-License-Identifier: BSD-2-Clause */
/* As program.py, with C++'s SDK, over HTTP alone: sdk-cpp http PORT PROCESS COUNT. */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <opentelemetry/exporters/otlp/otlp_http_exporter.h>
#include <opentelemetry/sdk/common/global_log_handler.h>
#include <opentelemetry/sdk/trace/batch_span_processor_factory.h>
#include <opentelemetry/sdk/trace/batch_span_processor_options.h>
#include <opentelemetry/sdk/trace/exporter.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/trace/scope.h>

namespace api = opentelemetry::trace;
namespace nostd = opentelemetry::nostd;
namespace otlp = opentelemetry::exporter::otlp;
namespace sdk = opentelemetry::sdk;

static const int rate = 2000; /* spans a second */

/* What the SDK says of what it gives up: its exporter says kSuccess all the same. */
class listener : public sdk::common::internal_log::LogHandler
{
      public:
	void Handle(sdk::common::internal_log::LogLevel, const char *, int, const char *words,
		const sdk::common::AttributeMap &) noexcept override
	{
		fprintf(stderr, "%s\n", words);
		said++;
	}

	std::atomic<unsigned> said{0};
};

/* Exports by another one, from one thread, which is handed the spans in their order. */
class watched : public sdk::trace::SpanExporter
{
      public:
	watched(std::unique_ptr<sdk::trace::SpanExporter> exporter, const listener &log,
		std::vector<size_t> &given_up)
	    : exporter(std::move(exporter)), log(log), given_up(given_up)
	{
	}

	std::unique_ptr<sdk::trace::Recordable> MakeRecordable() noexcept override
	{
		return exporter->MakeRecordable();
	}

	sdk::common::ExportResult Export(
		const nostd::span<std::unique_ptr<sdk::trace::Recordable>> &spans) noexcept override
	{
		unsigned before = log.said;
		size_t count = spans.size();
		sdk::common::ExportResult result = exporter->Export(spans);

		for (size_t i = 0; i < count && log.said != before; i++)
			given_up.push_back(next + i);
		next += count;
		return result;
	}

	bool ForceFlush(std::chrono::microseconds timeout) noexcept override
	{
		return exporter->ForceFlush(timeout);
	}

	bool Shutdown(std::chrono::microseconds timeout) noexcept override
	{
		return exporter->Shutdown(timeout);
	}

      private:
	std::unique_ptr<sdk::trace::SpanExporter> exporter;
	const listener &log;
	std::vector<size_t> &given_up;
	size_t next = 0;
};

/* Spans with what the API can say. */
static void send_fields(api::Tracer &tracer)
{
	static const int64_t ints[] = {1, -2};
	static const double doubles[] = {1e300, -0.5};
	static const bool bools[] = {true, false};
	static const nostd::string_view texts[] = {"one", ""};
	api::StartSpanOptions options;

	options.kind = api::SpanKind::kServer;
	auto root = tracer.StartSpan("größer", {{"text", "文字 \"quoted\"\n"}}, options);
	api::Scope scope(root);
	root->SetAttribute("int", INT64_MIN);
	root->SetAttribute("double", 0.1);
	root->SetAttribute("yes", true);
	root->SetAttribute("texts", nostd::span<const nostd::string_view>(texts));
	root->SetAttribute("ints", nostd::span<const int64_t>(ints));
	root->SetAttribute("doubles", nostd::span<const double>(doubles));
	root->SetAttribute("bools", nostd::span<const bool>(bools));
	root->AddEvent("there", {{"n", 1}});
	options.kind = api::SpanKind::kClient;
	auto child = tracer.StartSpan("child", {}, {{root->GetContext(), {{"why", "because"}}}}, options);
	child->SetStatus(api::StatusCode::kError, "no answer");
	child->End();
	root->SetStatus(api::StatusCode::kOk);
	root->End();
}

static void send_load(api::Tracer &tracer, const std::string &process, size_t count)
{
	auto began = std::chrono::steady_clock::now();

	for (size_t ordinal = 0; ordinal < count; ordinal++) {
		auto now = std::chrono::system_clock::now().time_since_epoch();
		auto start = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
		auto span = tracer.StartSpan("sent");

		span->SetAttribute("worker", process + ".0");
		span->SetAttribute("ordinal", std::to_string(ordinal));
		span->SetAttribute("start", std::to_string(start));
		span->End();
		std::this_thread::sleep_until(began + std::chrono::nanoseconds(1000000000 / rate) * ordinal);
	}
}

int main(int argc, char **argv)
{
	if (argc != 5 || strcmp(argv[1], "http") != 0)
		return 64;
	const std::string process = argv[3];
	const size_t count = (size_t)atol(argv[4]);
	auto log = std::make_shared<listener>();
	std::vector<size_t> given_up;
	otlp::OtlpHttpExporterOptions to;
	sdk::trace::BatchSpanProcessorOptions batches;

	sdk::common::internal_log::GlobalLogHandler::SetLogHandler(
		nostd::shared_ptr<sdk::common::internal_log::LogHandler>(log));
	to.url = std::string("http://127.0.0.1:") + argv[2] + "/v1/traces";
	to.content_type = otlp::HttpRequestContentType::kBinary;
	batches.max_queue_size = 2 * count + 64;
	batches.schedule_delay_millis = std::chrono::milliseconds(100);
	{
		auto exporter = std::make_unique<watched>(
			std::make_unique<otlp::OtlpHttpExporter>(to), *log, given_up);
		sdk::trace::TracerProvider provider(
			sdk::trace::BatchSpanProcessorFactory::Create(std::move(exporter), batches),
			sdk::resource::Resource::Create({{"service.name", "sdk" + process}}));
		auto tracer = provider.GetTracer("sdk", "1.2");

		if (!strcmp(argv[4], "fields"))
			send_fields(*tracer);
		else
			send_load(*tracer, process, count);
		provider.ForceFlush(std::chrono::seconds(120));
		provider.Shutdown();
	}
	printf("{\"given_up\": [");
	for (size_t i = 0; i < given_up.size(); i++)
		printf("%s%zu", i ? ", " : "", given_up[i]);
	printf("], \"doubtful\": []}\n");
	return 0;
}
