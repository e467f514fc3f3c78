import type { Milliseconds } from "@drover/controller";
import { secretProblem } from "@drover/webhook";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { secretFile } from "../process/settings.ts";

/** Files of a folder cannot be used as secrets. The message has the remedy, and never the content of a file. */
export class FolderSecretError extends Error {
  override readonly name = "FolderSecretError";
}

/** A changed Secret in a mounted folder is noticed after this time at most. */
const rereadInterval: Milliseconds = 2_000;

/**
 * The secrets that the gateway signs with: the file `current` of a folder and, during a rotation, `previous`, as a
 * mounted Secret has them. They are read again on use, at most every two seconds. If that fails, the secrets that were
 * read before stay valid.
 *
 * @param clock monotonic.
 * @throws FolderSecretError if there are none at first.
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
    const text = secretFile.safeParse(file);
    if (!text.success) throw new FolderSecretError(text.error.issues.map(({ message }) => message).join(" "));
    const problem = secretProblem(text.data.trim());
    if (problem !== undefined) throw new FolderSecretError(`The secret in ${file} ${problem}. Give another.`);
    return text.data.trim();
  });
}
