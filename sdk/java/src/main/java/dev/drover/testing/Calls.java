package dev.drover.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.drover.Call;
import dev.drover.Objects;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Calls for tests of handlers. */
public final class Calls {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Calls() {}

  /** A call for the object default/{@code name} with this spec, and these children that exist. */
  public static Call callFor(String name, Object spec, Object... children) {
    Map<String, Object> metadata =
        Map.of("name", name, "namespace", "default", "uid", "1", "resourceVersion", "1");
    JsonNode object =
        MAPPER.valueToTree(
            Map.of(
                "apiVersion",
                "example.com/v1",
                "kind",
                "Example",
                "metadata",
                metadata,
                "spec",
                spec));
    List<JsonNode> all = Stream.of(children).<JsonNode>map(MAPPER::valueToTree).toList();
    return new Call(
        Call.RECONCILE,
        "default/" + name,
        "token",
        Instant.now().plusSeconds(60),
        object,
        new Objects(all),
        new Objects(List.of()),
        MAPPER.createObjectNode());
  }
}
