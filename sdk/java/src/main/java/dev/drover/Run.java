package dev.drover;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A call that runs, or has run.
 *
 * @param turn its place among the runs of its key
 * @param answer the answer, once it is there; null if the call did not run to its end
 */
record Run(Turn turn, CompletableFuture<byte[]> answer) {
  Run(Turn turn) {
    this(turn, new CompletableFuture<>());
  }

  /**
   * Runs in this thread, when the earlier runs of the key have ended, unless it must stop before
   * that.
   */
  void run(Supplier<byte[]> work) {
    byte[] said = null;
    try {
      if (turn.begin()) {
        turn.running.acquire();
        try {
          said = work.get();
        } finally {
          turn.running.release();
        }
      }
    } catch (InterruptedException e) {
      // It was stopped before its turn came.
    } finally {
      turn.end();
      answer.complete(said);
    }
  }

  /** The answer, unless it takes longer: then null. */
  CompletableFuture<byte[]> answerWithin(long ms) {
    return answer.copy().completeOnTimeout(null, ms, TimeUnit.MILLISECONDS);
  }
}
