package dev.drover;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.ToLongFunction;

/**
 * A bounded memory of calls: none runs twice, and none after a newer one of its key. A call that
 * was removed to make room is refused by its time, and never runs again. Times are in seconds since
 * 1970.
 */
final class History {
  /** A call is remembered for so long: an older one is not verified any more. */
  static final long RETENTION = 2 * Signatures.TOLERANCE;

  private final int maxCalls;
  private final long maxBytes;
  private final Map<String, Known> known = new LinkedHashMap<>();
  private final Map<String, Turn> latest = new LinkedHashMap<>();

  /** Unknown calls that were signed up to this time are refused: they may be removed ones. */
  private long floor;

  private long bytes;

  /** A call that came. The run is null if its answer was removed to make room. */
  private static final class Known {
    final long at;
    final byte[] digest;
    Run run;
    int size;

    Known(byte[] digest, Run run) {
      this.at = run.turn().at;
      this.digest = digest;
      this.run = run;
    }
  }

  /**
   * What is to be done with a call.
   *
   * @param run its run. Null if a newer run of the key has begun, the token came with another body,
   *     or the answer is not remembered any more.
   * @param isNew true: it has to be run; otherwise wait for the answer
   */
  record Step(Run run, boolean isNew) {}

  History(int maxCalls, long maxBytes) {
    this.maxCalls = maxCalls;
    this.maxBytes = maxBytes;
  }

  /** Remembers a call that was signed at the time {@code at}. */
  synchronized Step begin(Call call, long at, byte[] body, long now) {
    makeRoom(now);
    byte[] digest = sha256(body);
    Known before = known.get(call.token());
    if (before != null) {
      return new Step(Arrays.equals(digest, before.digest) ? before.run : null, false);
    }
    Turn newest = latest.get(call.key());
    String version = call.resourceVersion();
    if (at <= floor || newest != null && isOlder(version, at, newest)) {
      return new Step(null, false);
    }
    Semaphore running = newest == null ? new Semaphore(1, true) : newest.running;
    Run run = new Run(new Turn(at, version, running));
    if (newest != null) {
      newest.stop();
    }
    // Keys that were called last are at the end.
    latest.remove(call.key());
    latest.put(call.key(), run.turn());
    Known one = new Known(digest, run);
    known.put(call.token(), one);
    run.answer().thenAccept(answer -> count(call.token(), one, answer));
    return new Step(run, true);
  }

  private synchronized void count(String token, Known one, byte[] answer) {
    if (answer != null && known.get(token) == one) {
      one.size = answer.length;
      bytes += one.size;
    }
  }

  private void makeRoom(long now) {
    removeFirst(known, one -> one.at, now);
    removeFirst(latest, one -> one.at, now);
    for (Known one : known.values()) {
      if (bytes <= maxBytes) {
        break;
      }
      if (one.size > 0) {
        bytes -= one.size;
        one.size = 0;
        one.run = null;
      }
    }
  }

  private <T> void removeFirst(Map<String, T> entries, ToLongFunction<T> signedAt, long now) {
    for (Iterator<T> all = entries.values().iterator(); all.hasNext(); ) {
      T one = all.next();
      long at = signedAt.applyAsLong(one);
      if (at >= now - RETENTION) {
        if (entries.size() < maxCalls) {
          break;
        }
        floor = Math.max(floor, at);
      }
      all.remove();
      if (one instanceof Known removed) {
        bytes -= removed.size;
      }
    }
  }

  /** Compares the versions of the object, and, if these do not decide it, the times of signing. */
  private static boolean isOlder(String version, long at, Turn than) {
    boolean comparable = isVersion(version) && isVersion(than.version);
    if (!comparable || version.equals(than.version)) {
      return at < than.at;
    }
    int shorter = Integer.compare(version.length(), than.version.length());
    return shorter == 0 ? version.compareTo(than.version) < 0 : shorter < 0;
  }

  private static boolean isVersion(String version) {
    return version.matches("[1-9][0-9]*");
  }

  private static byte[] sha256(byte[] body) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(body);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has SHA-256", e);
    }
  }
}
