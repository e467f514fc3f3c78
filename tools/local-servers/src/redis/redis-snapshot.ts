import { copyFile, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { redisRequest } from "./redis-request.ts";

/** The data of a server at one moment, kept in its folder. */
export interface RedisSnapshot {
  /** An RDB file. */
  readonly file: string;
}

/** Has the server on `port` save all its data, and takes the file away. Writes wait until it is saved. */
export async function takeSnapshot(port: number, dir: string): Promise<RedisSnapshot> {
  await save(port);
  const folder = join(dir, "snapshots");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${(await readdir(folder)).length + 1}.rdb`);
  await rename(join(dir, "dump.rdb"), file);
  return { file };
}

async function save(port: number): Promise<void> {
  // A server that feeds a new replica saves in the background, and only one can save at a time.
  for (;;) {
    const info = (await redisRequest(port, ["INFO", "persistence"])) ?? "";
    if (info.includes("rdb_bgsave_in_progress:0\r\n")) break;
    await delay(20);
  }
  await redisRequest(port, ["SAVE"]);
}

/**
 * Makes a snapshot all that a stopped server finds while `start` starts it: as its dump, and as the base of its
 * append-only file, since a server that keeps one does not look at a dump.
 */
export async function startFromSnapshot<T>(
  { file }: RedisSnapshot,
  dir: string,
  start: () => Promise<T>,
): Promise<T> {
  const dump = join(dir, "dump.rdb");
  const log = join(dir, "appendonlydir");
  await rm(log, { recursive: true, force: true });
  await mkdir(log);
  await copyFile(file, dump);
  await copyFile(file, join(log, "appendonly.aof.1.base.rdb"));
  await writeFile(join(log, "appendonly.aof.1.incr.aof"), "");
  await writeFile(
    join(log, "appendonly.aof.manifest"),
    "file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n",
  );
  // Without persistence the dump would come back at every later start.
  return start().finally(() => rm(dump, { force: true }));
}
