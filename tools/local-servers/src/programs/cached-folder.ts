import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * A folder in `cacheDir` that is made when it is not there yet, and kept. `make` gets a temporary folder to work in
 * and answers which folder in it is to be kept; when it rejects, nothing is left.
 *
 * Any number of processes may do this at once: each makes a folder of its own, the first to finish gives it its name,
 * and the others use that one.
 */
export async function cachedFolder(
  cacheDir: string,
  name: string,
  make: (temporary: string) => Promise<string>,
): Promise<string> {
  const folder = join(cacheDir, name);
  if (existsSync(folder)) return folder;
  const temporary = join(cacheDir, "unfinished", randomUUID());
  await removeAbandoned(join(cacheDir, "unfinished"));
  await mkdir(temporary, { recursive: true });
  try {
    await rename(await make(temporary), folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return folder;
}

/** Removes the files of killed processes, after an hour. */
async function removeAbandoned(unfinished: string): Promise<void> {
  for (const name of await readdir(unfinished).catch(() => [])) {
    const folder = join(unfinished, name);
    const age = await stat(folder).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > 3_600_000) await rm(folder, { recursive: true, force: true });
  }
}
