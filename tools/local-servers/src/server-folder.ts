import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Where a server keeps its data and its log. Others on the machine cannot read a folder that is made here. */
export interface ServerFolder {
  readonly path: string;
  /** Removes it when it is a temporary one. */
  close(): Promise<void>;
}

export async function serverFolder(name: string, given: string | undefined): Promise<ServerFolder> {
  if (given !== undefined) {
    const path = resolve(given);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { path, close: () => Promise.resolve() };
  }
  const path = await mkdtemp(join(tmpdir(), `drover-${name}-`));
  return { path, close: () => rm(path, { recursive: true, force: true }) };
}
