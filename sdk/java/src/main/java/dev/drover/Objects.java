package dev.drover;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;

/**
 * Kubernetes objects.
 *
 * @param all the objects
 */
public record Objects(List<JsonNode> all) {
  /** An object, such as {@code call.children().get("apps/v1", "Deployment", "web")}. */
  public Optional<JsonNode> get(String apiVersion, String kind, String name) {
    return all.stream()
        .filter(
            one ->
                one.path("apiVersion").asText().equals(apiVersion)
                    && one.path("kind").asText().equals(kind)
                    && one.path("metadata").path("name").asText().equals(name))
        .findFirst();
  }
}
