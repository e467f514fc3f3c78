package dev.drover.bench;

import io.javaoperatorsdk.operator.Operator;
import java.nio.file.Files;
import java.nio.file.Path;

/** The same controller with the Java Operator SDK. */
public class Main {

  public static void main(String[] args) {
    int workers = Integer.parseInt(System.getenv("BENCH_WORKERS"));
    Operator operator =
        new Operator(overrider -> overrider.withConcurrentReconciliationThreads(workers));
    GaugeReconciler reconciler = new GaugeReconciler(Long.parseLong(System.getenv("BENCH_WORK_MS")));
    operator.register(reconciler);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  operator.stop();
                  writeRuns(reconciler.runs.get());
                }));
    operator.start();
  }

  private static void writeRuns(long runs) {
    try {
      Files.writeString(Path.of(System.getenv("BENCH_RUNS_FILE")), Long.toString(runs));
    } catch (java.io.IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
  }
}
