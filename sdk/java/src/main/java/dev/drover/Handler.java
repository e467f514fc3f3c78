package dev.drover;

/** Answers a call. */
@FunctionalInterface
public interface Handler {
  /**
   * Answers a call.
   *
   * <p>Its thread is interrupted when the run must stop: at the deadline of the call, when a newer
   * run of the key has begun, and when the process has to end.
   *
   * @throws Exception the run failed; a {@link SpecException} parks the object
   */
  Answer handle(Call call) throws Exception;
}
