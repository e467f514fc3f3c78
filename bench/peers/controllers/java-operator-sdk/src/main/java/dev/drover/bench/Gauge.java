package dev.drover.bench;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

@Group("peers.drover.dev")
@Version("v1")
public class Gauge extends CustomResource<Gauge.Spec, Gauge.Status> implements Namespaced {

  public static class Spec {
    public int turn;
    public String notes;
    public boolean fails;
  }

  public static class Status {
    public Long observedGeneration;
  }
}
