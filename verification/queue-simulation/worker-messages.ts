import type { Redis } from "ioredis";
import type { LeasedKey } from "../../packages/queue/src/ledger/ledger.ts";
import * as answers from "../../packages/queue/src/ledger/redis-ledger-answers.ts";

/** A key that was assigned to a worker, and the message about it. */
export interface AssignmentMessage {
  readonly worker: string;
  readonly message: string;
  readonly assignment: LeasedKey;
}

/** The messages that scripts publish for workers on one server, in all schedules. */
export interface WorkerMessages {
  /** The messages under a prefix since the last call. */
  collect(prefix: string): Promise<readonly AssignmentMessage[]>;
  close(): void;
}

export async function receiveWorkerMessages(redis: Redis): Promise<WorkerMessages> {
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
      await connection.ping(); // answered after all earlier messages
      const received = messages.get(prefix) ?? [];
      messages.delete(prefix);
      return received;
    },
    close: () => connection.disconnect(),
  };
}
