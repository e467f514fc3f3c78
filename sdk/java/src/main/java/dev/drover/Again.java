package dev.drover;

/**
 * Asks to be called again. It counts as a wait, not as a failure. A field that is null is left out.
 *
 * @param after a duration such as 30s
 * @param reason in CamelCase, for programs
 * @param message for people
 * @param account an external account that accepts no calls until then: all keys that use it wait
 */
public record Again(String after, String reason, String message, String account) implements Answer {
  /** A wait that concerns no account. */
  public Again(String after, String reason, String message) {
    this(after, reason, message, null);
  }
}
