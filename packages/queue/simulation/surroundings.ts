import { randomUUID } from "node:crypto";
import type { Bell } from "../src/bells.ts";
import type { RedisConnection } from "../src/redis-connection.ts";
import { openRedisLedger, type RedisLedger, type RedisLedgerOptions } from "../src/redis-ledger.ts";
import { type Fault, times } from "./schedule.ts";
import { type SimulatedBells, simulatedBells } from "./simulated-bells.ts";
import { Truth } from "./truth.ts";

/** The caller died in the middle of a call to Redis. */
export class Died extends Error {
  override readonly name = "Died";
}

/** What the actors of one schedule share: a real Redis, clocks, bells, and the truth. */
export interface Surroundings {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly bells: SimulatedBells;
  readonly truth: Truth;
  /** Time that only goes forward, as a process measures it. */
  local: number;
  /** What the server's clock is ahead of that. */
  ahead: number;
  /** The sum of its steps forward: a timer may be so much early, and never more. */
  hurried: number;
  /** The replication id of the server of the moment. */
  server: string;
  readonly trace: string[];
  say(line: string): void;
  /** A ledger as one process opens it, which is told of every era but its first. */
  open(onNewEra: () => void): RedisLedger;
}

export function surroundings(
  redis: RedisConnection,
  instrument: RedisLedgerOptions["instrument"],
): Surroundings {
  const prefix = `{drover:${randomUUID()}}`;
  const trace: string[] = [];
  const self: Surroundings = {
    redis,
    prefix,
    bells: simulatedBells(),
    truth: new Truth(),
    local: 1_000_000,
    ahead: 0,
    hurried: 0,
    server: "server 0",
    trace,
    say: (line) => void trace.push(`${self.local - 1_000_000} ms: ${line}`),
    open(onNewEra) {
      let known = false;
      return openRedisLedger({
        redis,
        prefix,
        lease: times.lease,
        settling: times.settling,
        now: () => self.local + self.ahead,
        server: () => self.server,
        random: () => 0.5,
        onEra: () => {
          if (known) onNewEra();
          known = true;
        },
        ...(instrument && { instrument }),
      });
    },
  };
  return self;
}

/** Calls Redis, and lets go wrong what shall. `unheard` is the answer that got lost. */
export async function call<T>(fault: Fault, ask: () => Promise<T>): Promise<T | "unheard"> {
  if (fault === "dies before") throw new Died("before the call");
  const answer = await ask();
  if (fault === "dies after") throw new Died("after the call");
  return fault === "answer lost" ? "unheard" : answer;
}

export const shown = (bells: readonly Bell[]): string =>
  bells.length === 0 ? "no bell" : bells.map(({ key, number }) => `bell ${number} for ${key}`).join(", ");
