import type { Milliseconds } from "@drover/controller";
import { SecretError } from "@drover/kube";
import { secretProblem } from "@drover/webhook";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSecretFile } from "../process/settings.ts";

/** A changed Secret in a mounted folder is noticed after this time at most. */
const rereadInterval: Milliseconds = 2_000;

/**
 * The secrets that the gateway signs with: the file `current` of a folder and, during a rotation, `previous`, as a
 * mounted Secret has them. They are read again on use, at most every two seconds. If that fails, the secrets that were
 * read before stay valid.
 *
 * @param clock monotonic.
 * @throws SecretError if there are none at first.
 */
export function folderSecrets(
  folder: string,
  clock: () => Milliseconds,
  onTrouble: (error: unknown) => void,
): () => readonly string[] {
  let [secrets, at] = [read(folder), clock()];
  return () => {
    if (clock() - at < rereadInterval) return secrets;
    at = clock();
    try {
      secrets = read(folder);
    } catch (error) {
      onTrouble(error);
    }
    return secrets;
  };
}

function read(folder: string): readonly string[] {
  const previous = join(folder, "previous");
  return [join(folder, "current"), ...(existsSync(previous) ? [previous] : [])].map((file) => {
    const secret = readSecretFile(file).trim();
    const problem = secretProblem(secret);
    if (problem !== undefined)
      throw new SecretError(
        `The secret in ${file} ${problem}. Give the function and the gateway the same other one, ` +
          "whsec_ with 24 random bytes or more in base64.",
      );
    return secret;
  });
}
