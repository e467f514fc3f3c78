import type { Redis } from "ioredis";
import type { Given } from "../../packages/queue/src/ledger.ts";
import * as answers from "../../packages/queue/src/redis-ledger-answers.ts";

/** A key that was given to a worker, as it is told. */
export interface Letter {
  readonly worker: string;
  readonly message: string;
  readonly given: Given;
}

/** What the scripts tell workers on one server, in all schedules. */
export interface Post {
  /** What was told under a prefix since it was last asked for. */
  collect(prefix: string): Promise<readonly Letter[]>;
  close(): void;
}

export async function openPost(redis: Redis): Promise<Post> {
  const connection = redis.duplicate();
  const letters = new Map<string, Letter[]>();
  connection.on("pmessage", (_pattern: string, channel: string, message: string) => {
    const [prefix = "", worker = ""] = channel.split(":worker:");
    const told = letters.get(prefix) ?? [];
    letters.set(prefix, told);
    for (const given of answers.given(message.split("\n"), () => undefined))
      told.push({ worker, message, given });
  });
  await connection.psubscribe("*:worker:*");
  return {
    async collect(prefix) {
      await connection.ping(); // answered after all that was told before
      const told = letters.get(prefix) ?? [];
      letters.delete(prefix);
      return told;
    },
    close: () => connection.disconnect(),
  };
}
