// SPDX-License-Identifier: BSD-2-Clause
// What opentelemetry-cpp takes for the span that tests/bench measures: three annotations (events), three tags
// (attributes). Prints nanoseconds a span: of the calling thread, and of the whole process, until all is
// exported.
//
//     cpp null SPANS
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>

#include <opentelemetry/sdk/trace/batch_span_processor.h>
#include <opentelemetry/sdk/trace/batch_span_processor_options.h>
#include <opentelemetry/sdk/trace/exporter.h>
#include <opentelemetry/sdk/trace/processor.h>
#include <opentelemetry/sdk/trace/span_data.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>

namespace sdk = opentelemetry::sdk;
namespace trace = opentelemetry::trace;

static std::atomic<long> exported;

class Count final : public sdk::trace::SpanExporter
{
	std::unique_ptr<sdk::trace::Recordable> MakeRecordable() noexcept override
	{
		return std::make_unique<sdk::trace::SpanData>();
	}
	sdk::common::ExportResult Export(
		const opentelemetry::nostd::span<std::unique_ptr<sdk::trace::Recordable>> &spans) noexcept
		override
	{
		exported += static_cast<long>(spans.size());
		return sdk::common::ExportResult::kSuccess;
	}
	bool ForceFlush(std::chrono::microseconds) noexcept override
	{
		return true;
	}
	bool Shutdown(std::chrono::microseconds) noexcept override
	{
		return true;
	}
};

static double cpu(clockid_t clock)
{
	timespec time;

	clock_gettime(clock, &time);
	return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

static void span(trace::Tracer &tracer)
{
	trace::StartSpanOptions options;

	options.kind = trace::SpanKind::kServer;
	auto span = tracer.StartSpan("read",
		{{"object", "rbd_data.10226b8b4567.000000000000042a"}, {"pool", "rbd"},
			{"bytes", int64_t{4194304}}},
		options);
	span->AddEvent("request decoded");
	span->AddEvent("cache miss");
	span->AddEvent("reply sent");
	span->End();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 64;
	const long count = std::atol(argv[2]), burst = 1000; // then the exporter gets time
	double before = cpu(CLOCK_PROCESS_CPUTIME_ID), used = 0;
	sdk::trace::BatchSpanProcessorOptions options;

	options.max_queue_size = 1 << 20; // so that nothing is dropped
	sdk::trace::TracerProvider provider(
		std::make_unique<sdk::trace::BatchSpanProcessor>(std::make_unique<Count>(), options));
	auto tracer = provider.GetTracer("bench");
	for (long done = 0; done < count; done += burst) {
		double begun = cpu(CLOCK_THREAD_CPUTIME_ID);

		for (long i = 0; i < burst; i++)
			span(*tracer);
		used += cpu(CLOCK_THREAD_CPUTIME_ID) - begun;
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
	}
	provider.ForceFlush();
	provider.Shutdown();
	if (exported < count)
		return 1;
	std::printf("%.1f %.1f\n", used / static_cast<double>(count),
		(cpu(CLOCK_PROCESS_CPUTIME_ID) - before) / static_cast<double>(count));
	return 0;
}
