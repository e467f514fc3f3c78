package dev.drover;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.eclipse.jetty.io.Connection;

/**
 * The connections on which no verified call is in progress: strangers may have opened them.
 *
 * <p>A stranger can open connections and send nothing, or very little. The server therefore does
 * not count requests in progress, and it does not refuse new ones: it closes the connection that
 * has waited longest when there are too many or they hold too many bytes, and each that has waited
 * too long. A genuine call arrives within milliseconds, so it is never the oldest.
 */
final class Waiting implements Connection.Listener {
  private final int most;
  private final long mostBytes;
  private final long limit;
  private final Map<Connection, Waits> byAge = new LinkedHashMap<>();
  private long bytes;

  private static final class Waits {
    final long since = System.nanoTime();
    int bytes;
  }

  /**
   * At most so many connections, and so many bytes of their bodies.
   *
   * @param limit the longest wait, in milliseconds
   */
  Waiting(int most, long mostBytes, long limit) {
    this.most = most;
    this.mostBytes = mostBytes;
    this.limit = limit * 1_000_000;
  }

  @Override
  public void onOpened(Connection connection) {
    enter(connection);
  }

  @Override
  public void onClosed(Connection connection) {
    leave(connection);
  }

  /** Adds a connection. */
  synchronized void enter(Connection connection) {
    leave(connection);
    byAge.put(connection, new Waits());
    while (byAge.size() > most) {
      closeFirst();
    }
  }

  /** Removes a connection: it is closed, or has proved to be the gateway's. */
  synchronized void leave(Connection connection) {
    Waits waits = byAge.remove(connection);
    bytes -= waits == null ? 0 : waits.bytes;
  }

  /** Counts bytes of a body that have arrived. */
  synchronized void grow(Connection connection, int count) {
    Waits waits = byAge.get(connection);
    if (waits == null) {
      return;
    }
    waits.bytes += count;
    bytes += count;
    while (bytes > mostBytes) {
      closeFirst();
    }
  }

  /** Closes those that have waited too long. To be called about once a second. */
  synchronized void closeOld() {
    long now = System.nanoTime();
    while (!byAge.isEmpty() && now - byAge.values().iterator().next().since > limit) {
      closeFirst();
    }
  }

  private void closeFirst() {
    Iterator<Connection> all = byAge.keySet().iterator();
    Connection first = all.next();
    leave(first);
    first.getEndPoint().close();
  }
}
