package dev.drover;

/**
 * A spec that cannot be read. A handler that lets it pass parks the object, with the reason
 * InvalidSpec.
 */
public final class SpecException extends RuntimeException {
  SpecException(String message) {
    super(message);
  }
}
