import type { Milliseconds } from "@drover/controller";
import { secretProblem } from "@drover/webhook";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { secretFile } from "./settings.ts";

/** The files of a folder that cannot be used as secrets. The message says what to do; never what is in them. */
export class FolderSecretError extends Error {
  override readonly name = "FolderSecretError";
}

/** The longest that a Secret's change in a mounted folder is not seen. */
const keptFor: Milliseconds = 2_000;

/**
 * The secrets that the gateway signs with: the files `current` and, while they are changed, `previous` of a folder, as a
 * mounted Secret has them. Read again every other second, when asked for; while that fails, those from before are good.
 *
 * @param clock one that never goes back.
 * @throws FolderSecretError when there are none to begin with.
 */
export function folderSecrets(
  folder: string,
  clock: () => Milliseconds,
  onTrouble: (error: unknown) => void,
): () => readonly string[] {
  let [secrets, at] = [read(folder), clock()];
  return () => {
    if (clock() - at < keptFor) return secrets;
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
