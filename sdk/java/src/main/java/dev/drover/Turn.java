package dev.drover;

import java.util.concurrent.Semaphore;

/**
 * A run's place among the runs of its key. It has nothing of the call, since the newest of each key
 * is remembered.
 */
final class Turn {
  final long at;
  final String version;

  /** Has a permit while no run of the key lasts. */
  final Semaphore running;

  private boolean isOver;
  private Thread thread;

  Turn(long at, String version, Semaphore running) {
    this.at = at;
    this.version = version;
    this.running = running;
  }

  /**
   * Asks the run to stop, by an interrupt: a newer one has begun, its deadline is over, or the
   * process has to end.
   */
  synchronized void stop() {
    isOver = true;
    if (thread != null) {
      thread.interrupt();
    }
  }

  /** Names the thread of the run. False: it must not begin. */
  synchronized boolean begin() {
    thread = Thread.currentThread();
    return !isOver;
  }

  synchronized void end() {
    thread = null;
    Thread.interrupted();
  }
}
