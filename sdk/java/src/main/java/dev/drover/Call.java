package dev.drover;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A call for one object.
 *
 * @param type such as {@link #RECONCILE}
 * @param key namespace/name of the object, or its name if the kind is cluster-scoped
 * @param token of the run, and never used twice: the same token is the same call
 * @param deadline after this time another run may begin: pass it on to everything that the handler
 *     calls
 * @param object the object, as the run read it
 * @param children for compose: the children that exist. Secrets have only their metadata.
 * @param related for compose: the related objects that exist
 * @param fields the whole call, with fields that this version of the package does not have
 */
public record Call(
    String type,
    String key,
    String token,
    Instant deadline,
    JsonNode object,
    Objects children,
    Objects related,
    JsonNode fields) {
  /** Look at the world, and move it one step towards the spec. */
  public static final String RECONCILE = "dev.drover.reconcile.v2";

  /** Undo what was done for the object. */
  public static final String FINALIZE = "dev.drover.finalize.v2";

  /** Declare the children of the object. */
  public static final String COMPOSE = "dev.drover.compose.v2";

  /**
   * The object's spec, as a type such as a record.
   *
   * @throws SpecException if it does not fit; let it pass
   */
  public <T> T spec(Class<T> type) {
    return Json.spec(object.path("spec"), type);
  }

  /** The name of the object. */
  public String name() {
    return object.path("metadata").path("name").asText();
  }

  /** The namespace of the object; empty if the kind is cluster-scoped. */
  public String namespace() {
    return object.path("metadata").path("namespace").asText();
  }

  /** The number of failed runs of this key in a row. */
  public int fails() {
    return fields.path("fails").asInt();
  }

  String resourceVersion() {
    return object.path("metadata").path("resourceVersion").asText();
  }

  /** Parses a call whose signature has been verified. */
  static Call parse(JsonNode fields) throws Refusal {
    JsonNode object = fields.path("object");
    JsonNode metadata = object.path("metadata");
    List<JsonNode> texts =
        List.of(
            fields.path("key"),
            fields.path("token"),
            metadata.path("name"),
            metadata.path("resourceVersion"));
    boolean valid =
        Set.of(RECONCILE, FINALIZE, COMPOSE).contains(fields.path("type").asText())
            && texts.stream().allMatch(text -> text.isTextual() && !text.textValue().isEmpty())
            && object.path("spec").isObject();
    try {
      if (valid) {
        return new Call(
            fields.path("type").textValue(),
            fields.path("key").textValue(),
            fields.path("token").textValue(),
            Instant.parse(fields.path("deadline").asText()),
            object,
            objects(fields.path("children")),
            objects(fields.path("related")),
            fields);
      }
    } catch (DateTimeException e) {
      // Refused below.
    }
    throw new Refusal(
        400, "this is not a call of version 2 of the contract: update the package or the gateway");
  }

  private static Objects objects(JsonNode list) {
    List<JsonNode> all = new ArrayList<>();
    list.forEach(all::add);
    return new Objects(List.copyOf(all));
  }
}
