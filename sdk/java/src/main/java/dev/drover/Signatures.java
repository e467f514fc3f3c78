package dev.drover;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;

/** Signatures after https://www.standardwebhooks.com. Times are in seconds since 1970. */
final class Signatures {
  /**
   * Greatest difference between the time of a message and our clock: an older message may be a
   * replay.
   */
  static final long TOLERANCE = 300;

  private static final int MAX_SIGNATURES = 50;

  /** A message that was signed with one of the secrets. */
  record Verified(String id, long at) {}

  private Signatures() {}

  /** The signatures of a message, one with each secret. */
  static List<String> of(List<byte[]> secrets, String id, String timestamp, byte[] body) {
    return secrets.stream().map(secret -> "v1," + mac(secret, id, timestamp, body)).toList();
  }

  private static String mac(byte[] secret, String id, String timestamp, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
      return Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java has HmacSHA256", e);
    }
  }

  /** Verifies that a message was signed with one of the secrets. */
  static Verified verify(List<byte[]> secrets, HttpFields headers, byte[] body, long now)
      throws Refusal {
    String id = only(headers, "webhook-id");
    String timestamp = only(headers, "webhook-timestamp");
    String given = only(headers, "webhook-signature");
    if (!id.matches("[!--/-~]{1,256}") || !timestamp.matches("[0-9]{1,12}")) {
      throw new Refusal(401, "the call is not signed");
    }
    long at = Long.parseLong(timestamp);
    if (Math.abs(now - at) > TOLERANCE) {
      throw new Refusal(401, "the call was not signed within five minutes: compare the clocks");
    }
    boolean genuine = false;
    List<byte[]> theirs =
        given
            .lines()
            .flatMap(line -> List.of(line.split(" ", MAX_SIGNATURES + 1)).stream())
            .limit(MAX_SIGNATURES)
            .map(one -> one.getBytes(StandardCharsets.UTF_8))
            .collect(Collectors.toList());
    for (String ours : of(secrets, id, timestamp, body)) {
      for (byte[] one : theirs) {
        // All are compared, so that the time does not reveal which one fits.
        genuine |= MessageDigest.isEqual(ours.getBytes(StandardCharsets.UTF_8), one);
      }
    }
    if (!genuine) {
      throw new Refusal(401, "the call is not signed with a secret of this function");
    }
    return new Verified(id, at);
  }

  /** The value of a header. One that came twice, also joined by a proxy, counts as missing. */
  private static String only(HttpFields headers, String name) {
    List<HttpField> fields = headers.getFields(name);
    String value = fields.size() == 1 ? fields.get(0).getValue() : null;
    return value == null || value.contains(", ") ? "" : value;
  }
}
