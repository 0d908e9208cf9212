// SPDX-License-Identifier: BSD-2-Clause

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** As program.py, with Java's SDK, which the environment sets up: see java. Program.java PROCESS COUNT. */
public class Program {
  static final int RATE = 2000; // spans a second
  static final AtomicInteger said = new AtomicInteger();

  /** What the exporters say: that they try again, or give up. */
  static class Listener extends Handler {
    @Override
    public void publish(LogRecord record) {
      if (record.getMessage().contains(" returned non-retryable response")) return; // an OK, or a failure that is told
      said.incrementAndGet();
      System.err.println(record.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  /** Exports by another one, which is asked for one batch after the other. */
  static class Watched implements SpanExporter {
    final SpanExporter exporter;
    final List<String> givenUp = new ArrayList<>(), doubtful = new ArrayList<>();

    Watched(SpanExporter exporter) {
      this.exporter = exporter;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      int before = said.get();
      List<String> ordinals = new ArrayList<>();
      for (SpanData span : spans) {
        String ordinal = span.getAttributes().get(AttributeKey.stringKey("ordinal"));
        if (ordinal != null) ordinals.add(ordinal);
      }
      CompletableResultCode result = exporter.export(spans);
      result.whenComplete(() -> note(result, before, ordinals));
      return result;
    }

    synchronized void note(CompletableResultCode result, int before, List<String> ordinals) {
      if (!result.isSuccess()) givenUp.addAll(ordinals);
      else if (said.get() != before) doubtful.addAll(ordinals);
    }

    @Override
    public CompletableResultCode flush() {
      return exporter.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
      return exporter.shutdown();
    }
  }

  /** Spans with what the API can say. */
  static void fields(Tracer tracer) {
    Span root =
        tracer.spanBuilder("größer").setSpanKind(SpanKind.SERVER).setAttribute("text", "文字 \"quoted\"\n").startSpan();
    try (Scope scope = root.makeCurrent()) {
      root.setAttribute("int", Long.MIN_VALUE).setAttribute("double", 0.1).setAttribute("yes", true);
      root.setAttribute(AttributeKey.stringArrayKey("texts"), List.of("one", ""));
      root.setAttribute(AttributeKey.longArrayKey("ints"), List.of(1L, -2L));
      root.setAttribute(AttributeKey.doubleArrayKey("doubles"), List.of(1e300, -0.5));
      root.setAttribute(AttributeKey.booleanArrayKey("bools"), List.of(true, false));
      root.addEvent("there", Attributes.of(AttributeKey.longKey("n"), 1L));
      root.recordException(new IllegalStateException("it broke"));
      Span child =
          tracer
              .spanBuilder("child")
              .setSpanKind(SpanKind.CLIENT)
              .addLink(root.getSpanContext(), Attributes.of(AttributeKey.stringKey("why"), "because"))
              .startSpan();
      child.setStatus(StatusCode.ERROR, "no answer").end();
    }
    root.setStatus(StatusCode.OK).end();
  }

  static void load(Tracer tracer, String process, int count) throws InterruptedException {
    long began = System.nanoTime();
    for (int ordinal = 0; ordinal < count; ordinal++) {
      Span span = tracer.spanBuilder("sent").startSpan();
      span.setAttribute("worker", process + ".0").setAttribute("ordinal", Integer.toString(ordinal));
      span.setAttribute("start", Long.toString(System.currentTimeMillis() * 1000000)).end();
      long wait = began + ordinal * (1000000000L / RATE) - System.nanoTime();
      if (wait > 1000000) TimeUnit.NANOSECONDS.sleep(wait);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    Logger all = Logger.getLogger("io.opentelemetry");
    Logger retries = Logger.getLogger("io.opentelemetry.exporter.sender.okhttp.internal.RetryInterceptor");
    all.setUseParentHandlers(false);
    all.addHandler(new Listener());
    retries.setLevel(Level.FINER); // a line for each
    Watched[] watched = new Watched[1];
    OpenTelemetrySdk sdk =
        AutoConfiguredOpenTelemetrySdk.builder()
            .addSpanExporterCustomizer((exporter, config) -> watched[0] = new Watched(exporter))
            .build()
            .getOpenTelemetrySdk();
    Tracer tracer = sdk.getTracer("sdk", "1.2");
    if (args[1].equals("fields")) fields(tracer);
    else load(tracer, args[0], Integer.parseInt(args[1]));
    sdk.getSdkTracerProvider().forceFlush().join(120, TimeUnit.SECONDS);
    sdk.close();
    System.out.println("{\"given_up\": " + watched[0].givenUp + ", \"doubtful\": " + watched[0].doubtful + "}");
  }
}
