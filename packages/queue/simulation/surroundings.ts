import { randomUUID } from "node:crypto";
import type { Bell } from "../src/bells.ts";
import type { Given } from "../src/ledger.ts";
import type { RedisConnection } from "../src/redis-connection.ts";
import { openRedisLedger, type RedisLedger, type RedisLedgerOptions } from "../src/redis-ledger.ts";
import type { Post } from "./post.ts";
import { type Fault, times } from "./schedule.ts";
import { type SimulatedBells, simulatedBells } from "./simulated-bells.ts";
import { type Knowledge, Truth, Violation } from "./truth.ts";

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
  /** What workers were told and have not heard yet, by the name under which they listen. */
  readonly letters: Map<string, Given[]>;
  /** What was known of each key that was given to a slot, by the token of that run. */
  readonly knownWhenGiven: Map<string, Knowledge>;
  /** The version of the function of who offered a slot, by its token. */
  readonly offered: Map<string, number>;
  /** The replication id of the server of the moment. */
  server: string;
  readonly trace: string[];
  say(line: string): void;
  /** A ledger as one process opens it, which is told of every era but its first. */
  open(onNewEra: () => void): RedisLedger;
}

export function surroundings(
  redis: RedisConnection,
  post: Post,
  instrument: RedisLedgerOptions["instrument"],
): Surroundings {
  const prefix = `{drover:${randomUUID()}}`;
  const trace: string[] = [];
  const letters = new Map<string, Given[]>();
  const knownWhenGiven = new Map<string, Knowledge>();
  const offered = new Map<string, number>();
  const collect = async (): Promise<void> => {
    for (const { worker, given } of await post.collect(prefix)) {
      const { slot, token, key, claim } = given;
      self.say(`${key} is given to ${token} of ${worker}`);
      if (knownWhenGiven.has(token)) throw new Violation(`${token} was given twice, and at last ${key}`);
      self.truth.granted(key, token, claim, offered.get(slot) ?? 0, self.local + self.hurried);
      knownWhenGiven.set(token, self.truth.known(key));
      letters.set(worker, [...(letters.get(worker) ?? []), given]);
    }
  };
  const self: Surroundings = {
    redis,
    prefix,
    bells: simulatedBells(),
    truth: new Truth(),
    letters,
    knownWhenGiven,
    offered,
    local: 1_000_000,
    ahead: 0,
    hurried: 0,
    server: "server 0",
    trace,
    say: (line) => void trace.push(`${self.local - 1_000_000} ms: ${line}`),
    open(onNewEra) {
      let known = false;
      const ledger = openRedisLedger({
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
      return collecting(ledger, collect);
    },
  };
  return self;
}

/** A ledger after each call of which is known what was given to whom. */
function collecting(ledger: RedisLedger, collect: () => Promise<void>): RedisLedger {
  const after =
    <Args extends readonly unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const answer = await call(...args);
      await collect();
      return answer;
    };
  return {
    ...ledger,
    wake: after((...args: Parameters<RedisLedger["wake"]>) => ledger.wake(...args)),
    settle: after((...args: Parameters<RedisLedger["settle"]>) => ledger.settle(...args)),
    offer: after((...args: Parameters<RedisLedger["offer"]>) => ledger.offer(...args)),
    ring: after((...args: Parameters<RedisLedger["ring"]>) => ledger.ring(...args)),
    pause: after((...args: Parameters<RedisLedger["pause"]>) => ledger.pause(...args)),
    resume: after((...args: Parameters<RedisLedger["resume"]>) => ledger.resume(...args)),
  };
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
