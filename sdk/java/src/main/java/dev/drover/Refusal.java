package dev.drover;

/**
 * A request that is not a genuine call, not meant for this function, or late. The response is not
 * signed, so it decides nothing: the gateway calls again. The message has no part of the request.
 */
final class Refusal extends Exception {
  final int status;

  Refusal(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }
}
