package dev.drover.bench;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.util.concurrent.atomic.AtomicLong;

@ControllerConfiguration
public class GaugeReconciler implements Reconciler<Gauge> {

  private final long workMs;
  final AtomicLong runs = new AtomicLong();

  GaugeReconciler(long workMs) {
    this.workMs = workMs;
  }

  @Override
  public UpdateControl<Gauge> reconcile(Gauge gauge, Context<Gauge> context) throws InterruptedException {
    runs.incrementAndGet();
    long generation = gauge.getMetadata().getGeneration();
    Gauge.Status before = gauge.getStatus();
    if (before != null && before.observedGeneration != null && before.observedGeneration >= generation) {
      return UpdateControl.noUpdate();
    }
    if (gauge.getSpec().fails) {
      throw new IllegalStateException("It is to fail.");
    }
    Thread.sleep(workMs);
    // What is applied from the server's side is only what is ours, as its documentation has it.
    Gauge applied = new Gauge();
    applied.setMetadata(
        new ObjectMetaBuilder()
            .withName(gauge.getMetadata().getName())
            .withNamespace(gauge.getMetadata().getNamespace())
            .build());
    applied.setStatus(new Gauge.Status());
    applied.getStatus().observedGeneration = generation;
    return UpdateControl.patchStatus(applied);
  }
}
