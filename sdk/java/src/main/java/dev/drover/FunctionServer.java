package dev.drover;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import sun.misc.Signal;

/** The HTTP server of a function, from its start to SIGTERM. */
final class FunctionServer {
  /** Connections without a verified call: more than the threads that open connections. */
  private static final int MAX_WAITING = 64;

  private static final int THREADS = 16;

  /**
   * Time in which a request must have arrived, an answer must have been read, and for which a
   * connection may be idle.
   */
  private static final Duration MAX_WAIT = Duration.ofSeconds(30);

  private static final int MAX_HEADERS = 32 << 10;

  /** Time for runs to send their answers after the grace. */
  private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(1);

  private static final Logger LOG = Logger.getLogger("drover");

  /** Kept, since a logger that nothing refers to loses its level. */
  private static final Logger JETTY = Logger.getLogger("org.eclipse.jetty");

  private final ExecutorService threads = Executors.newCachedThreadPool(FunctionServer::daemon);
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(FunctionServer::daemon);
  private final Server server;
  private final ServerConnector connector;
  private final Receiver receiver;
  private final Settings settings;

  FunctionServer(Function function, Settings settings, FolderSecrets secrets, Waiting waiting) {
    this.settings = settings;
    QueuedThreadPool pool = new QueuedThreadPool(THREADS);
    pool.setDaemon(true);
    server = new Server(pool);
    HttpConfiguration configuration = new HttpConfiguration();
    configuration.setRequestHeaderSize(MAX_HEADERS);
    configuration.setSendServerVersion(false);
    connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(configuration));
    connector.setHost(settings.host());
    connector.setPort(settings.port());
    connector.setAcceptQueueSize(1_024);
    // A call may last longer than any idle timeout: `waiting` closes connections.
    connector.setIdleTimeout(0);
    connector.addBean(waiting);
    server.addConnector(connector);
    receiver = new Receiver(function, settings, secrets, waiting, threads, timer);
    server.setHandler(receiver);
    timer.scheduleWithFixedDelay(waiting::closeOld, 1, 1, TimeUnit.SECONDS);
  }

  static void serve(Function function) {
    try {
      Settings settings = Settings.from(System.getenv());
      FolderSecrets secrets = new FolderSecrets(Path.of(settings.secrets()));
      JETTY.setLevel(Level.WARNING);
      // So many bytes are for strangers, of what a function may have.
      long bytes = Math.max(8 << 20, Runtime.getRuntime().maxMemory() / 8);
      Waiting waiting = new Waiting(MAX_WAITING, bytes, MAX_WAIT.toMillis());
      FunctionServer server = new FunctionServer(function, settings, secrets, waiting);
      CountDownLatch stop = new CountDownLatch(1);
      for (String name : new String[] {"TERM", "INT"}) {
        Signal.handle(new Signal(name), signal -> stop.countDown());
      }
      InetSocketAddress address = server.start();
      LOG.log(Level.INFO, "Answering calls at {0}", address.toString());
      stop.await();
      server.stop();
      LOG.info("Stopped");
    } catch (IllegalArgumentException | IOException e) {
      System.err.println("error: " + e.getMessage());
      System.exit(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  InetSocketAddress start() throws IOException {
    try {
      server.start();
      return new InetSocketAddress(settings.host(), connector.getLocalPort());
    } catch (Exception e) {
      String where = settings.host() + ", port " + settings.port();
      throw new IOException(
          "Cannot listen on " + where + ". Set DROVER_HTTP_HOST and DROVER_HTTP_PORT.", e);
    }
  }

  /** Accepts no new connections; calls in progress end within the grace, or have to stop then. */
  void stop() throws InterruptedException {
    connector.shutdown();
    if (!areEnded(settings.stopGrace())) {
      receiver.stopRuns();
      areEnded(REPLY_TIMEOUT);
    }
    try {
      server.stop();
    } catch (Exception e) {
      LOG.log(Level.WARNING, "The server did not stop", e);
    }
    timer.shutdownNow();
    threads.shutdownNow();
  }

  private boolean areEnded(Duration within) throws InterruptedException {
    return receiver.calls.tryAcquire(Receiver.MAX_CALLS, within.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "drover");
    thread.setDaemon(true);
    return thread;
  }
}
