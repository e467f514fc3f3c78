package dev.drover;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of a function's process: the environment variables that Drover's deployer sets.
 *
 * @param audience DROVER_WEBHOOK_AUDIENCE: namespace/name of the ReconcileFunction
 * @param uid DROVER_WEBHOOK_UID: its uid. If it is empty, calls for an earlier object of the same
 *     name are answered, too.
 * @param secrets DROVER_WEBHOOK_SECRETS: the folder in which the Secret {@code <name>-webhook} is
 *     mounted
 * @param host DROVER_HTTP_HOST: the address to listen on, by default 127.0.0.1
 * @param port DROVER_HTTP_PORT: by default 8080; 0 is any free port
 * @param stopGrace DROVER_STOP_GRACE: the time for calls in progress to end after SIGTERM, by
 *     default 20s
 */
record Settings(
    String audience, String uid, String secrets, String host, int port, Duration stopGrace) {
  private static final Pattern PART =
      Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,9})?)(ms|s|m|h|d)");
  private static final Map<String, Long> UNITS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

  /** Reads the settings. An exception states what to set. */
  static Settings from(Map<String, String> variables) {
    String audience = variables.getOrDefault("DROVER_WEBHOOK_AUDIENCE", "");
    if (!audience.matches("[^/\\s]+/[^/\\s]+")) {
      throw new IllegalArgumentException(
          "Set DROVER_WEBHOOK_AUDIENCE to namespace/name of the ReconcileFunction.");
    }
    String secrets = variables.getOrDefault("DROVER_WEBHOOK_SECRETS", "");
    if (secrets.isEmpty()) {
      throw new IllegalArgumentException(
          "Set DROVER_WEBHOOK_SECRETS to the folder in which the Secret <name>-webhook is"
              + " mounted.");
    }
    String port = or(variables, "DROVER_HTTP_PORT", "8080");
    if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65_535) {
      throw new IllegalArgumentException("Set DROVER_HTTP_PORT to a port from 0 to 65535.");
    }
    return new Settings(
        audience,
        variables.getOrDefault("DROVER_WEBHOOK_UID", ""),
        secrets,
        or(variables, "DROVER_HTTP_HOST", "127.0.0.1"),
        Integer.parseInt(port),
        duration(or(variables, "DROVER_STOP_GRACE", "20s")));
  }

  private static String or(Map<String, String> variables, String name, String other) {
    String value = variables.getOrDefault(name, "");
    return value.isEmpty() ? other : value;
  }

  /** A duration as Drover writes it, such as 70000ms, 1m30s or 1.5h. */
  private static Duration duration(String text) {
    if (!text.matches("(" + PART.pattern() + ")+")) {
      throw new IllegalArgumentException("Set DROVER_STOP_GRACE to a duration such as 20s.");
    }
    double ms = 0;
    for (Matcher part = PART.matcher(text); part.find(); ) {
      ms += Double.parseDouble(part.group(1)) * UNITS.get(part.group(2));
    }
    return Duration.ofMillis((long) ms);
  }
}
