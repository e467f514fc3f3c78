package dev.drover;

import java.util.List;

/**
 * Answers a reconcile call: the object is reconciled. A field that is null is left out.
 *
 * @param status becomes the object's status, of any type that Jackson writes as an object. Null
 *     leaves it as it is.
 * @param conditions of the status. If none is Ready, Drover adds that.
 * @param requeueAfter a duration such as 30s: call again after it, even if nothing has changed
 * @param account the external account that was used
 */
public record Done(Object status, List<Condition> conditions, String requeueAfter, String account)
    implements Answer {
  /** Done, with this status. */
  public Done(Object status) {
    this(status, null, null, null);
  }

  /** Done, with the status as it is. */
  public Done() {
    this(null);
  }
}
