package dev.drover;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Calls and strangers over HTTP, and how a process ends. */
@Timeout(60)
class ServerTest {
  private static final String HEADERS = "POST / HTTP/1.1\r\nhost: a\r\ncontent-le";
  private static final String BODY =
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000000\r\n\r\n{";
  private static final long MINUTE = 60_000;

  @TempDir Path folder;
  private final List<Socket> sockets = new ArrayList<>();
  private FunctionServer server;
  private InetSocketAddress address;

  private void start(Function function, Waiting waiting, long grace) throws IOException {
    String secret = "whsec_" + Base64.getEncoder().encodeToString(Messages.SECRET);
    Files.writeString(folder.resolve("current"), secret);
    Settings settings = new Settings("web/f", "f", "", "127.0.0.1", 0, Duration.ofMillis(grace));
    server = new FunctionServer(function, settings, new FolderSecrets(folder), waiting);
    address = server.start();
  }

  private void start(Function function) throws IOException {
    start(function, new Waiting(8, 100 << 20, MINUTE), MINUTE);
  }

  @AfterEach
  void closeAll() throws Exception {
    for (Socket socket : sockets) {
      socket.close();
    }
    stop();
  }

  private void stop() throws InterruptedException {
    if (server != null) {
      server.stop();
    }
    server = null;
  }

  private static Function finalizes() {
    return new Function().reconcile(call -> new Finalized());
  }

  /** A connection on which this was sent. */
  private Socket open(String text) throws IOException {
    Socket socket = new Socket(address.getAddress(), address.getPort());
    sockets.add(socket);
    socket.getOutputStream().write(Messages.bytes(text));
    return socket;
  }

  /** What comes until the server closes the connection. */
  private static String rest(Socket socket) throws IOException {
    StringBuilder all = new StringBuilder();
    byte[] part = new byte[4_096];
    try {
      for (int n; (n = socket.getInputStream().read(part)) >= 0; ) {
        all.append(new String(part, 0, n, StandardCharsets.UTF_8));
      }
    } catch (SocketException e) {
      // It was closed while something was not read.
    }
    return all.toString();
  }

  /**
   * Waits until the server closes a connection. It may write an error before that, without a
   * signature.
   */
  private static void assertClosed(Socket socket) throws IOException {
    assertFalse(rest(socket).contains("webhook-signature"));
  }

  private static String request(String token, String body) {
    String at = Long.toString(Messages.now());
    byte[] bytes = Messages.bytes(body);
    String signature = Signatures.of(List.of(Messages.SECRET), token, at, bytes).get(0);
    return ("POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: %d\r\n"
            + "webhook-id: %s\r\nwebhook-timestamp: %s\r\nwebhook-signature: %s\r\n\r\n%s")
        .formatted(bytes.length, token, at, signature, body);
  }

  private String post(String token, String body) throws IOException {
    String response = rest(open(request(token, body)));
    assertTrue(response.contains("webhook-signature: v1,"), response);
    return response.substring(response.indexOf("\r\n\r\n") + 4);
  }

  @Test
  void anExceptionAndAnAnswerThatIsNoneAreFailedRuns() throws Exception {
    Object loop =
        new Object() {
          public Object getSelf() {
            return this;
          }
        };
    List<Handler> handlers =
        List.of(
            call -> {
              throw new IOException("a bug");
            },
            call -> {
              throw new StackOverflowError();
            },
            call -> null,
            call -> new Done(loop),
            call -> new Done(new Object()));
    for (Handler handler : handlers) {
      start(new Function().reconcile(handler));
      String said = post("t1", Messages.body("t1", 1));
      assertTrue(said.startsWith("{\"outcome\":\"failed\",\"message\":\""), said);
      stop();
    }
  }

  @Test
  void callsInProgressEndWithinTheGraceOrAreInterrupted() throws Exception {
    for (long grace : new long[] {MINUTE, 0}) {
      CountDownLatch begun = new CountDownLatch(1);
      CountDownLatch end = new CountDownLatch(1);
      Function slow =
          new Function()
              .reconcile(
                  call -> {
                    begun.countDown();
                    end.await();
                    return new Finalized();
                  });
      start(slow, new Waiting(8, 100 << 20, MINUTE), grace);
      Socket called = open(request("t1", Messages.body("t1", 1)));
      begun.await();
      CompletableFuture<Void> stopping =
          CompletableFuture.runAsync(
              () -> {
                try {
                  stop();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      if (grace > 0) {
        end.countDown();
      }
      String said = rest(called);
      assertTrue(said.contains(grace > 0 ? "finalized" : "the run was stopped"), said);
      stopping.get();
    }
  }

  @Test
  void aRunIsInterruptedAtItsDeadlineAndTheNextOfItsKeyRunsThen() throws Exception {
    Semaphore end = new Semaphore(0);
    start(
        new Function()
            .reconcile(
                call -> {
                  end.acquire();
                  return new Finalized();
                }));
    String stopped = post("t1", Messages.body("t1", 1, "web/a", 200, "{}"));
    assertTrue(stopped.contains("conflict"), stopped);
    end.release();
    assertEquals("{\"outcome\":\"finalized\"}", post("t2", Messages.body("t2", 2)));
  }

  @Test
  void aHandlerThatCannotBeInterruptedKeepsOthersOfItsKeyFromRunning() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Semaphore end = new Semaphore(0);
    start(
        new Function()
            .reconcile(
                call -> {
                  if (call.token().equals("t1")) {
                    begun.countDown();
                    end.acquireUninterruptibly();
                  }
                  return new Finalized();
                }));
    open(request("t1", Messages.body("t1", 1)));
    begun.await();
    String second = post("t2", Messages.body("t2", 2, "web/a", 200, "{}"));
    end.release();
    assertTrue(second.contains("conflict"), second);
  }

  @Test
  void aRunContinuesWhenItsConnectionBreaks() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Semaphore end = new Semaphore(0);
    start(
        new Function()
            .reconcile(
                call -> {
                  begun.countDown();
                  end.acquire();
                  return new Finalized();
                }));
    String body = Messages.body("t1", 1);
    Socket broken = open(request("t1", body));
    begun.await();
    broken.close();
    Socket again = open(request("t1", body));
    end.release();
    assertTrue(rest(again).endsWith("{\"outcome\":\"finalized\"}"));
  }

  @Test
  void aConnectionWithoutACompleteCallIsClosedAfterATime() throws Exception {
    start(finalizes(), new Waiting(8, 100 << 20, 1), MINUTE);
    for (String sent : List.of("", HEADERS, BODY)) {
      assertClosed(open(sent));
    }
  }

  @Test
  void aConnectionThatSendsAByteNowAndThenIsClosedAllTheSame() throws Exception {
    start(finalizes(), new Waiting(8, 100 << 20, 1), MINUTE);
    Socket stranger = open(BODY);
    while (true) {
      try {
        stranger.getOutputStream().write(' ');
        Thread.yield();
      } catch (SocketException e) {
        return;
      }
    }
  }

  @Test
  void theOldestIsClosedWhenThereAreTooManyAndACallIsAnswered() throws Exception {
    // More than the 16 threads of the server: those open connections that came at once in any
    // order.
    start(finalizes(), new Waiting(32, 100 << 20, MINUTE), MINUTE);
    CountDownLatch closed = new CountDownLatch(168);
    for (int i = 0; i < 200; i++) {
      Socket stranger = open(i % 2 == 0 ? HEADERS : BODY);
      Thread reader =
          new Thread(
              () -> {
                assertDoesNotThrow(() -> assertClosed(stranger));
                closed.countDown();
              });
      reader.setDaemon(true);
      reader.start();
    }
    assertEquals("{\"outcome\":\"finalized\"}", post("t1", Messages.body("t1", 1)));
    closed.await();
  }

  @Test
  void theOldestIsClosedWhenStrangersHoldTooManyBytes() throws Exception {
    start(finalizes(), new Waiting(1_000, 1 << 20, MINUTE), MINUTE);
    // An answer shows that the server has opened this connection before the second.
    Socket first = open("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
    assertEquals('H', first.getInputStream().read());
    first.getOutputStream().write(Messages.bytes(BODY + " ".repeat(200_000)));
    Socket second = open(BODY + " ".repeat(200_000));
    assertClosed(first);
    assertEquals("{\"outcome\":\"finalized\"}", post("t1", Messages.body("t1", 1)));
    second.close();
  }

  @Test
  void aConnectionWithACallInProgressIsNotClosed() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Semaphore end = new Semaphore(0);
    Function slow =
        new Function()
            .reconcile(
                call -> {
                  begun.countDown();
                  end.acquire();
                  return new Finalized();
                });
    start(slow, new Waiting(1, 100 << 20, 1), MINUTE);
    String call = request("t1", Messages.body("t1", 1));
    Socket called = open(call);
    // A connection on which the call takes more than a millisecond to arrive may be closed.
    while (!begun.await(1, TimeUnit.SECONDS)) {
      called = open(call);
    }
    // One is closed because there are too many, the other after a time.
    for (Socket other : List.of(open(""), open(""))) {
      assertClosed(other);
    }
    end.release();
    assertTrue(rest(called).endsWith("{\"outcome\":\"finalized\"}"));
  }

  @Test
  void aConnectionCarriesOneCallAfterTheOther() throws Exception {
    start(finalizes());
    String first = request("t1", Messages.body("t1", 1)).replace("connection: close\r\n", "");
    String both = rest(open(first + request("t2", Messages.body("t2", 2))));
    assertEquals(3, both.split("\"finalized\"", -1).length, both);
  }

  @Test
  void requestsThatAreNoCallsAreRefusedWithoutASignature() throws Exception {
    start(finalizes());
    String post = "POST / HTTP/1.1\r\nhost: a\r\n";
    String call = request("t1", Messages.body("t1", 1));
    String[][] requests = {
      {post + "content-length: 3000000\r\nexpect: 100-continue\r\n\r\n", "413"},
      {post + "transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "411"},
      {post + "a: b\r\n".repeat(10_000) + "\r\n", "431"},
      {post + "a: " + "b".repeat(100_000) + "\r\n\r\n", "431"},
      {"nonsense\r\n\r\n", "400"},
      {post + "content-length: 2\r\ncontent-length: 3\r\n\r\n{}", "400"},
      {post + "content-length: 2\r\n\r\n{}", "401"},
      {call.replace("content-length", "content-encoding: gzip\r\ncontent-length"), "415"},
      {call.replace("POST", "PUT"), "405"},
      {call.replace("web/f", "web/g"), "401"},
    };
    for (String[] one : requests) {
      String response = rest(open(one[0]));
      assertTrue(response.startsWith("HTTP/1.1 " + one[1]), one[0] + ": " + response);
      assertFalse(response.contains("webhook-signature"), response);
    }
    String probe = "GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    assertTrue(rest(open(probe)).startsWith("HTTP/1.1 200"));
  }

  @Test
  void aStrangerDoesNotHoldUpTheEndOfTheProcess() throws Exception {
    start(finalizes());
    Socket headers = open(HEADERS);
    Socket body = open(BODY);
    stop();
    assertClosed(headers);
    assertClosed(body);
  }
}
