package dev.drover;

import java.util.List;

/**
 * Answers a compose call with all children that should exist. A field that is null is left out.
 *
 * @param children each is an object as in a manifest, of any type that Jackson writes as an object,
 *     or a {@link Child}
 * @param status becomes the object's status. Null leaves it as it is.
 * @param conditions of the status. If none is Ready, Drover adds that.
 * @param requeueAfter a duration such as 30s: call again after it, even if nothing has changed
 */
public record Composed(
    List<?> children, Object status, List<Condition> conditions, String requeueAfter)
    implements Answer {
  /** These children, and this status. */
  public Composed(List<?> children, Object status) {
    this(children, status, null, null);
  }

  /** These children, with the status as it is. */
  public Composed(List<?> children) {
    this(children, null);
  }
}
