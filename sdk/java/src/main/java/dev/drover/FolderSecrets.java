package dev.drover;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The files {@code current} and, during a change of the secret, {@code previous} of a folder in
 * which a Secret is mounted.
 *
 * <p>They are read for each request, so that a changed Secret counts at once. If reading fails, the
 * secrets that were read before stay valid.
 */
final class FolderSecrets {
  private static final int MIN_BYTES = 24;
  private static final Logger LOG = Logger.getLogger("drover");

  private final Path folder;
  private volatile List<byte[]> last;

  /** Reads the secrets. An exception states what to do, and has nothing of the secrets. */
  FolderSecrets(Path folder) {
    this.folder = folder;
    last = read();
  }

  List<byte[]> current() {
    try {
      last = read();
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING,
          "The secrets cannot be read; those that were read before stay in use. {0}",
          e.getMessage());
    }
    return last;
  }

  private List<byte[]> read() {
    List<byte[]> all = new ArrayList<>();
    for (String name : List.of("current", "previous")) {
      byte[] secret = secret(folder.resolve(name));
      if (secret != null) {
        all.add(secret);
      } else if (name.equals("current")) {
        throw new IllegalArgumentException(
            "There is no file current in "
                + folder
                + ". Mount the Secret <name>-webhook of the ReconcileFunction there"
                + " (DROVER_WEBHOOK_SECRETS).");
      }
    }
    return List.copyOf(all);
  }

  private static byte[] secret(Path path) {
    byte[] secret = {};
    try {
      String text = Files.readString(path, StandardCharsets.ISO_8859_1).strip();
      if (text.startsWith("whsec_")) {
        secret = Base64.getDecoder().decode(text.substring("whsec_".length()));
      }
    } catch (NoSuchFileException e) {
      return null;
    } catch (IOException e) {
      throw new IllegalArgumentException(path + " cannot be read: " + e.getClass().getSimpleName());
    } catch (IllegalArgumentException e) {
      // It is not base64. The message of the exception has a part of it.
    }
    // An empty secret is none: anyone could sign with it.
    if (secret.length < MIN_BYTES) {
      throw new IllegalArgumentException(
          "The secret in " + path + " is not whsec_ with 24 bytes or more in base64.");
    }
    return secret;
  }
}
