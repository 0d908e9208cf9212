// SPDX-License-Identifier: BSD-2-Clause
//! What fastrace and opentelemetry-rust take for the span that tests/bench measures: three annotations (events), three tags
//! (attributes). Prints nanoseconds a span: of the calling thread, and of the whole process, until all is exported.
//!
//!     rivals LIBRARY EXPORTER SPANS      LIBRARY: fastrace | fastrace-empty | opentelemetry; EXPORTER: null | http://…

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::{Span as _, SpanKind, Tracer, TracerProvider as _};
use opentelemetry::KeyValue;
use opentelemetry_otlp::WithExportConfig;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanData, SpanExporter,
};

const OBJECT: &str = "rbd_data.10226b8b4567.000000000000042a";
/// Local spans of a root, as fastrace is meant for.
const LOCAL: u64 = 100;
/// Then the exporters get time, so that no queue runs over; it is not counted for the thread.
const PAUSE_EVERY: u64 = 1000;

fn cpu(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Calls `work` until it has made that many spans; gives the thread's nanoseconds.
fn repeat(spans: u64, each: u64, mut work: impl FnMut()) -> u64 {
    let mut used = 0;
    let mut done = 0;
    while done < spans {
        let before = cpu(libc::CLOCK_THREAD_CPUTIME_ID);
        for _ in 0..PAUSE_EVERY / each {
            work();
        }
        used += cpu(libc::CLOCK_THREAD_CPUTIME_ID) - before;
        done += PAUSE_EVERY;
        std::thread::sleep(Duration::from_millis(2));
    }
    used
}

#[derive(Clone, Debug, Default)]
struct Null(Arc<AtomicU64>);

impl SpanExporter for Null {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.fetch_add(batch.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

fn attributes() -> [KeyValue; 3] {
    [
        KeyValue::new("object", black_box(OBJECT)),
        KeyValue::new("pool", black_box("rbd")),
        KeyValue::new("bytes", 4_194_304i64),
    ]
}

/// The queue is large enough that nothing is dropped.
fn provider(exporter: &str, null: Null) -> SdkTracerProvider {
    let config = BatchConfigBuilder::default().with_max_queue_size(1 << 20).build();
    let builder = SdkTracerProvider::builder();
    if exporter == "null" {
        let processor = BatchSpanProcessor::builder(null).with_batch_config(config).build();
        return builder.with_span_processor(processor).build();
    }
    let otlp = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{exporter}/v1/traces"))
        .build()
        .expect("an exporter");
    builder.with_span_processor(BatchSpanProcessor::builder(otlp).with_batch_config(config).build()).build()
}

fn opentelemetry(exporter: &str, spans: u64) -> u64 {
    let null = Null::default();
    let provider = provider(exporter, null.clone());
    let tracer = provider.tracer("bench");
    let used = repeat(spans, 1, || {
        let mut span = tracer
            .span_builder("read")
            .with_kind(SpanKind::Server)
            .with_attributes(attributes())
            .start(&tracer);
        span.add_event("request decoded", vec![]);
        span.add_event("cache miss", vec![]);
        span.add_event("reply sent", vec![]);
        span.end();
    });
    provider.shutdown().expect("all exported");
    let exported = null.0.load(Ordering::Relaxed);
    assert!(exporter != "null" || exported >= spans, "{exported} of {spans} spans were exported");
    used
}

struct Count(Arc<AtomicU64>);

impl fastrace::collector::Reporter for Count {
    fn report(&mut self, spans: Vec<fastrace::collector::SpanRecord>) {
        self.0.fetch_add(spans.len() as u64, Ordering::Relaxed);
    }
}

fn fastrace_span(empty: bool) {
    use fastrace::prelude::*;
    let span = LocalSpan::enter_with_local_parent("read");
    if empty {
        return;
    }
    let _span = span.with_properties(|| {
        [("object", black_box(OBJECT)), ("pool", black_box("rbd")), ("bytes", black_box("4194304"))]
    });
    LocalSpan::add_event(Event::new("request decoded"));
    LocalSpan::add_event(Event::new("cache miss"));
    LocalSpan::add_event(Event::new("reply sent"));
}

fn fastrace(empty: bool, spans: u64) -> u64 {
    use fastrace::prelude::*;
    let count = Arc::new(AtomicU64::new(0));
    fastrace::set_reporter(Count(count.clone()), fastrace::collector::Config::default());
    let used = repeat(spans, LOCAL, || {
        let root = Span::root("root", SpanContext::random());
        let _guard = root.set_local_parent();
        for _ in 0..LOCAL {
            fastrace_span(empty);
        }
    });
    fastrace::flush();
    let exported = count.load(Ordering::Relaxed);
    assert!(exported >= spans, "{exported} of {spans} spans were exported");
    used
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let spans: u64 = words[3].parse().expect("a number of spans");
    let before = cpu(libc::CLOCK_PROCESS_CPUTIME_ID);
    let thread = match words[1].as_str() {
        "fastrace" => fastrace(false, spans),
        "fastrace-empty" => fastrace(true, spans),
        _ => opentelemetry(&words[2], spans),
    };
    let process = cpu(libc::CLOCK_PROCESS_CPUTIME_ID) - before;
    println!("{:.1} {:.1}", thread as f64 / spans as f64, process as f64 / spans as f64);
}
