import type { Redis } from "ioredis";
import type { LeasedKey } from "../../packages/queue/src/ledger/ledger.ts";
import * as answers from "../../packages/queue/src/ledger/redis-ledger-answers.ts";

/** A key that was assigned to a worker, and the message about it. */
export interface AssignmentMessage {
  readonly worker: string;
  readonly message: string;
  readonly assignment: LeasedKey;
}

/** What the scripts tell workers on one server, in all schedules. */
export interface Post {
  /** What was told under a prefix since it was last asked for. */
  collect(prefix: string): Promise<readonly AssignmentMessage[]>;
  close(): void;
}

export async function openPost(redis: Redis): Promise<Post> {
  const connection = redis.duplicate();
  const messages = new Map<string, AssignmentMessage[]>();
  connection.on("pmessage", (_pattern: string, channel: string, message: string) => {
    const [prefix = "", worker = ""] = channel.split(":worker:");
    const received = messages.get(prefix) ?? [];
    messages.set(prefix, received);
    for (const assignment of answers.parseLeasedKeys(message.split("\n"), "assigned", () => undefined))
      received.push({ worker, message, assignment });
  });
  await connection.psubscribe("*:worker:*");
  return {
    async collect(prefix) {
      await connection.ping(); // answered after all that was told before
      const received = messages.get(prefix) ?? [];
      messages.delete(prefix);
      return received;
    },
    close: () => connection.disconnect(),
  };
}
