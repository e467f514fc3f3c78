package dev.drover;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/** Calls as the gateway sends them. */
final class Messages {
  static final byte[] SECRET = new byte[32];

  static {
    Arrays.fill(SECRET, (byte) 7);
  }

  private Messages() {}

  static String body(String token, int version, String key, long timeout, String spec) {
    String deadline = Instant.now().plusMillis(timeout).toString();
    String metadata = "{\"name\":\"a\",\"resourceVersion\":\"%d\"}".formatted(version);
    return """
    {"type":"dev.drover.reconcile.v2","audience":{"name":"web/f","uid":"f"},"key":"%s",
    "token":"%s","deadline":"%s","object":{"metadata":%s,"spec":%s}}\
    """
        .formatted(key, token, deadline, metadata, spec);
  }

  static String body(String token, int version) {
    return body(token, version, "web/a", 60_000, "{}");
  }

  static String bodyWith(String spec) {
    return body("t1", 1, "web/a", 60_000, spec);
  }

  static Call call(String body) throws Refusal {
    return Call.parse(Json.parse(bytes(body)));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static long now() {
    return Instant.now().getEpochSecond();
  }
}
