package dev.drover;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** A request's way: it is verified, runs once, and its answer is signed. */
final class Receiver extends Handler.Abstract.NonBlocking {
  /** Verified calls at once, repeated ones among them. */
  static final int MAX_CALLS = 256;

  /** Enough for every object: the API server stores 1.5 MiB. */
  private static final int MAX_BODY = 2 << 20;

  private static final Logger LOG = Logger.getLogger("drover");

  private final Function function;
  private final Settings settings;
  private final FolderSecrets secrets;
  private final Waiting waiting;
  private final ExecutorService threads;
  private final ScheduledExecutorService timer;
  private final History history = new History(50_000, 32 << 20);
  private final Set<Run> running = ConcurrentHashMap.newKeySet();

  /** Has a permit for each call that may come: all of them when no call is in progress. */
  final Semaphore calls = new Semaphore(MAX_CALLS, true);

  Receiver(
      Function function,
      Settings settings,
      FolderSecrets secrets,
      Waiting waiting,
      ExecutorService threads,
      ScheduledExecutorService timer) {
    this.function = function;
    this.settings = settings;
    this.secrets = secrets;
    this.waiting = waiting;
    this.threads = threads;
    this.timer = timer;
  }

  /** Asks all runs to stop: the process has to end. */
  void stopRuns() {
    running.forEach(run -> run.turn().stop());
  }

  /**
   * Answers a POST to any path as a call, since the ReconcileFunction chooses the path; and probes.
   */
  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    String path = request.getHttpURI().getPath();
    boolean probes = path.equals("/healthz") || path.equals("/readyz");
    String encoding = request.getHeaders().get(HttpHeader.CONTENT_ENCODING);
    if (request.getMethod().equals("GET") && probes) {
      callback.succeeded();
    } else if (!request.getMethod().equals("POST")) {
      refuse(response, callback, new Refusal(405, "calls are sent with POST"));
    } else if (encoding != null && !encoding.equals("identity")) {
      refuse(response, callback, new Refusal(415, "calls are not compressed"));
    } else if (request.getLength() < 0) {
      // Chunks of one byte would cost much time.
      refuse(response, callback, new Refusal(411, "a call has a content-length"));
    } else if (request.getLength() > MAX_BODY) {
      refuse(response, callback, new Refusal(413, "a call has at most 2 MiB"));
    } else {
      read(request, response, callback, new ByteArrayOutputStream());
    }
    return true;
  }

  /** Reads what has arrived of a body, and continues when more has. No thread waits for that. */
  private void read(
      Request request, Response response, Callback callback, ByteArrayOutputStream body) {
    Connection connection = request.getConnectionMetaData().getConnection();
    while (true) {
      Content.Chunk chunk = request.read();
      if (chunk == null) {
        request.demand(() -> read(request, response, callback, body));
        return;
      }
      if (Content.Chunk.isFailure(chunk)) {
        refuse(response, callback, new Refusal(400, "the call was cut off"));
        return;
      }
      ByteBuffer bytes = chunk.getByteBuffer();
      byte[] part = new byte[bytes.remaining()];
      bytes.get(part);
      boolean isLast = chunk.isLast();
      chunk.release();
      body.writeBytes(part);
      // An array for a body is up to twice as long, and is copied at the end.
      waiting.grow(connection, 3 * part.length);
      if (isLast) {
        receive(request, response, callback, body.toByteArray());
        return;
      }
    }
  }

  private void receive(Request request, Response response, Callback callback, byte[] body) {
    Connection connection = request.getConnectionMetaData().getConnection();
    try {
      Signatures.Verified verified =
          Signatures.verify(secrets.current(), request.getHeaders(), body, seconds());
      Call call = check(body, verified.id());
      if (!calls.tryAcquire()) {
        throw new Refusal(503, "too many calls at once");
      }
      waiting.leave(connection);
      Callback done = Callback.from(callback, (Runnable) calls::release);
      answer(call, verified.at(), body)
          .whenComplete(
              (answer, problem) -> {
                waiting.enter(connection);
                sign(response, call.token(), answer, done);
              });
    } catch (Refusal e) {
      refuse(response, callback, e);
    }
  }

  /** Returns a call if it is meant for this function, and in time. */
  private Call check(byte[] body, String id) throws Refusal {
    JsonNode fields = Json.parse(body);
    if (Json.hasProto(fields)) {
      throw new Refusal(400, "a field has the name __proto__");
    }
    JsonNode audience = fields.path("audience");
    String uid = settings.uid();
    if (!audience.path("name").asText().equals(settings.audience())
        || !uid.isEmpty() && !audience.path("uid").asText().equals(uid)) {
      throw new Refusal(421, "the call is meant for another function: correct its address");
    }
    Call call = Call.parse(fields);
    if (!call.token().equals(id)) {
      throw new Refusal(400, "the token of the call is not its webhook-id");
    }
    if (!call.deadline().isAfter(Instant.now())) {
      throw new Refusal(408, "the deadline of the call is over: compare the clocks");
    }
    return call;
  }

  /** Runs a call, unless it ran before. Null if there is no answer. */
  private CompletableFuture<byte[]> answer(Call call, long at, byte[] body) {
    History.Step step = history.begin(call, at, body, seconds());
    if (step.run() == null) {
      return CompletableFuture.completedFuture(null);
    }
    long left = Math.max(0, Duration.between(Instant.now(), call.deadline()).toMillis());
    if (step.isNew()) {
      Run run = step.run();
      running.add(run);
      ScheduledFuture<?> deadline = timer.schedule(run.turn()::stop, left, TimeUnit.MILLISECONDS);
      run.answer()
          .whenComplete(
              (answer, problem) -> {
                deadline.cancel(false);
                running.remove(run);
              });
      threads.execute(() -> run.run(() -> function.run(call)));
    }
    return step.run().answerWithin(left);
  }

  private void sign(Response response, String token, byte[] answer, Callback callback) {
    String why = "A newer run of this key has begun here, or this one was answered long ago.";
    byte[] body = answer != null ? answer : rendered(new Conflict(why));
    String timestamp = Long.toString(seconds());
    HttpFields.Mutable headers = response.getHeaders();
    headers.put(HttpHeader.CONTENT_TYPE, "application/json");
    headers.put("webhook-id", token);
    headers.put("webhook-timestamp", timestamp);
    headers.put(
        "webhook-signature",
        String.join(" ", Signatures.of(secrets.current(), token, timestamp, body)));
    response.write(true, ByteBuffer.wrap(body), callback);
  }

  private static void refuse(Response response, Callback callback, Refusal refusal) {
    LOG.log(Level.WARNING, "A call was refused: {0}", refusal.getMessage());
    response.setStatus(refusal.status);
    response.getHeaders().put(HttpHeader.CONNECTION, "close");
    byte[] text = (refusal.getMessage() + "\n").getBytes(StandardCharsets.UTF_8);
    response.write(true, ByteBuffer.wrap(text), callback);
  }

  private static byte[] rendered(Answer answer) {
    try {
      return Json.MAPPER.writeValueAsBytes(answer);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long seconds() {
    return Instant.now().getEpochSecond();
  }
}
