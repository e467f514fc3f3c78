package dev.drover;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A child with settings. A setting that is null has its default.
 *
 * @param object the object, as in a manifest
 * @param wave children of a higher wave are applied when all of lower waves are ready; 0 by default
 * @param update how a change is applied
 * @param maxUnavailable for {@link Update#ROLLING}: a child is changed while fewer of its kind are
 *     not ready; 1 by default
 * @param deletion what happens when it is no longer declared, and with its parent
 * @param adopt true: an object of this name that has no controller becomes the child
 */
public record Child(
    Object object,
    Integer wave,
    Update update,
    Integer maxUnavailable,
    Deletion deletion,
    Boolean adopt) {
  /** How a change of a child is applied. */
  public enum Update {
    /** On the server. The default. */
    @JsonProperty("Apply")
    APPLY,
    /** As APPLY; if a field is immutable, the child is deleted and created again. */
    @JsonProperty("Recreate")
    RECREATE,
    /** When the child is deleted by others. */
    @JsonProperty("OnDelete")
    ON_DELETE,
    /** The children are recreated in turn. */
    @JsonProperty("Rolling")
    ROLLING,
  }

  /** What happens to a child that is not needed any more. */
  public enum Deletion {
    /** It is deleted. The default. */
    @JsonProperty("Delete")
    DELETE,
    /** It is released. */
    @JsonProperty("Orphan")
    ORPHAN,
    /** It is kept for a parent that declares it again. */
    @JsonProperty("Retain")
    RETAIN,
  }
}
