import { objectKey, type ObjectKey } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { Redis } from "ioredis";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Enlistment } from "./ledger.ts";
import { openRedisLedger, type RedisLedger } from "./redis-ledger.ts";
import type { Claim, Verdict, Wake } from "./work-queue.ts";

export const lease = 6_000;
export const settling = 1_000;
export const key = objectKey({ namespace: "default", name: "photos" });
export const failed: Verdict = { kind: "retry", error: "no" };
export const done: Verdict = { kind: "done" };

/** A ledger of its own for every test, on a real server, with a clock and a server id that the test holds. */
export class LedgerUnderTest {
  ledger!: RedisLedger;
  redis!: Redis;
  prefix = "";
  clock = 1_000_000;
  server = "first";
  eras: string[] = [];
  #version = 100;

  async open(redis: Redis): Promise<void> {
    this.redis = redis;
    this.clock = 1_000_000;
    this.server = "first";
    this.prefix = `{drover:${randomUUID()}}`;
    this.eras = [];
    this.ledger = openRedisLedger({
      redis,
      prefix: this.prefix,
      lease,
      settling,
      now: () => this.clock,
      server: () => this.server,
      random: () => 0.999_999,
      onEra: (era) => void this.eras.push(era),
    });
    await this.enlist();
    this.clock += settling;
  }

  enlist(fields: Partial<Enlistment> = {}): Promise<void> {
    const backoff = { first: 1_000, longest: 8_000 };
    const usual = { worker: "w1", slots: 1, version: 0, lasts: 10_000_000, backoff, accounts: {} };
    return this.ledger.enlist({ ...usual, ...fields });
  }

  /** Wakes a key, and answers whose bells were added. */
  async wake(of: ObjectKey, fields: Partial<Wake> = {}): Promise<readonly ObjectKey[]> {
    const resourceVersion = String(this.#version++);
    const wake = { key: of, kind: "buckets", resourceVersion, reason: "Modified", class: "change" } as const;
    return (await this.ledger.wake([{ ...wake, ...fields }])).map((bell) => bell.key);
  }

  /** Claims a key that was rung. */
  async claim(of: ObjectKey, token: string = randomUUID()): Promise<Claim> {
    const answer = await this.ledger.claim(of, token);
    if ("refused" in answer) throw new Error(`${of} refused: ${answer.refused}`);
    return answer.claimed;
  }

  /** Rings, and answers whose bells were added. */
  async rung(): Promise<readonly ObjectKey[]> {
    return (await this.ledger.ring()).bells.map((bell) => bell.key);
  }

  /** Runs a key that was rung; answers in how many ms it is due again. */
  async run(of: ObjectKey, verdict: Verdict): Promise<number | undefined> {
    const token = randomUUID();
    await this.claim(of, token);
    const answer = await this.ledger.settle(of, token, verdict);
    if (answer.kind === "stale") throw new Error(`${of} was stale`);
    return answer.dueIn;
  }
}

export function ledgerUnderTest(): LedgerUnderTest {
  const subject = new LedgerUnderTest();
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis({ persistence: false });
    redis = new Redis(server.url);
  });
  beforeEach(() => subject.open(redis));
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  return subject;
}

/** Keys `<namespace>/<prefix>0`, `<namespace>/<prefix>1`, ... */
export const keysIn = (namespace: string, count: number, prefix = "n"): readonly ObjectKey[] =>
  Array.from({ length: count }, (_, i) => objectKey({ namespace, name: `${prefix}${i}` }));
