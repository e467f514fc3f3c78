package com.example;

import com.fasterxml.jackson.databind.JsonNode;
import dev.drover.Again;
import dev.drover.Answer;
import dev.drover.Call;
import dev.drover.Composed;
import dev.drover.Function;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A function for Website objects: each gets a page in a ConfigMap, a Deployment that serves it, and
 * a Service. It only declares these children. Drover creates them, keeps them as they are declared,
 * and deletes them.
 */
public final class Website {
  /** The fields that users set. The Secret has environment variables of the web server. */
  record Spec(String html, String image, long replicas, String secretName) {}

  record Status(String address, int readyReplicas) {}

  static Answer compose(Call call) {
    Spec spec = call.spec(Spec.class);
    String name = call.name();
    Optional<JsonNode> secret = call.related().get("v1", "Secret", spec.secretName());
    if (spec.secretName() != null && secret.isEmpty()) {
      return new Again("10m", "NoSecret", "Create the Secret " + spec.secretName() + ".");
    }
    Map<String, Object> labels =
        Map.of("app.kubernetes.io/name", "website", "app.kubernetes.io/instance", name);
    int ready =
        call.children()
            .get("apps/v1", "Deployment", name)
            .map(deployment -> deployment.path("status").path("readyReplicas").asInt())
            .orElse(0);
    return new Composed(
        List.of(
            configMap(name, spec), deployment(name, spec, labels, secret), service(name, labels)),
        new Status("http://" + name + "." + call.namespace() + ".svc", ready));
  }

  private static Map<String, Object> configMap(String name, Spec spec) {
    Map<String, Object> data = Map.of("index.html", spec.html());
    return child("v1", "ConfigMap", name, "data", data);
  }

  private static Map<String, Object> deployment(
      String name, Spec spec, Map<String, Object> labels, Optional<JsonNode> secret) {
    Map<String, Object> container = new HashMap<>();
    container.put("name", "web");
    container.put("image", spec.image());
    container.put("ports", List.of(Map.of("name", "http", "containerPort", 8080)));
    container.put("readinessProbe", Map.of("httpGet", Map.of("path", "/", "port", "http")));
    Map<String, Object> mount =
        Map.of("name", "page", "mountPath", "/usr/share/nginx/html", "readOnly", true);
    container.put("volumeMounts", List.of(mount));
    Map<String, Object> metadata = new HashMap<>(Map.of("labels", labels));
    if (secret.isPresent()) {
      Map<String, Object> reference = Map.of("name", spec.secretName());
      container.put("envFrom", List.of(Map.of("secretRef", reference)));
      // A new version of the Secret replaces the Pods.
      JsonNode version = secret.get().path("metadata").path("resourceVersion");
      metadata.put("annotations", Map.of("example.com/secret-version", version));
    }
    Map<String, Object> volume = Map.of("name", "page", "configMap", Map.of("name", name));
    Map<String, Object> pod = Map.of("containers", List.of(container), "volumes", List.of(volume));
    Map<String, Object> template = Map.of("metadata", metadata, "spec", pod);
    Map<String, Object> selector = Map.of("matchLabels", labels);
    Map<String, Object> deployment =
        Map.of("replicas", spec.replicas(), "selector", selector, "template", template);
    return child("apps/v1", "Deployment", name, "spec", deployment);
  }

  private static Map<String, Object> service(String name, Map<String, Object> labels) {
    Map<String, Object> port = Map.of("name", "http", "port", 80, "targetPort", "http");
    Map<String, Object> spec = Map.of("selector", labels, "ports", List.of(port));
    return child("v1", "Service", name, "spec", spec);
  }

  private static Map<String, Object> child(
      String apiVersion, String kind, String name, String field, Object value) {
    return Map.of(
        "apiVersion", apiVersion, "kind", kind, "metadata", Map.of("name", name), field, value);
  }

  /** Answers calls. */
  public static void main(String[] args) {
    new Function().compose(Website::compose).serve();
  }
}
