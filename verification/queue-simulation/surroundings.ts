import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Bell } from "../../packages/queue/src/bells.ts";
import type { RedisConnection } from "../../packages/queue/src/redis-connection.ts";
import {
  openRedisLedger,
  type RedisLedger,
  type RedisLedgerOptions,
} from "../../packages/queue/src/redis-ledger.ts";
import type { Post } from "./post.ts";
import { type Fault, times } from "./schedule.ts";
import { SimulatedChannels } from "./simulated-channels.ts";
import { VirtualClock } from "@drover/timers";
import { type SimulatedBells, simulatedBells } from "./simulated-bells.ts";
import { type Knowledge, Truth, Violation } from "./truth.ts";

/** What the clock shows at first, ms. */
const beginning = 1_000_000;

/** The caller died in the middle of a call to Redis. */
export class Died extends Error {
  override readonly name = "Died";
}

/** When a key was given to a slot, and after how many losses of data. */
export interface Giving {
  readonly at: number;
  readonly losses: number;
}

/** What the actors of one schedule share: a real Redis, clocks, bells, and the truth. */
export interface Surroundings {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly bells: SimulatedBells;
  readonly truth: Truth;
  readonly clock: VirtualClock;
  /** Time that only goes forward, as a process measures it. */
  readonly local: number;
  /** What the server's clock is ahead of that. */
  ahead: number;
  /** The sum of its steps forward: a timer may be so much early, and never more. */
  hurried: number;
  /** The sum of its steps back: what waits for a time may be so much late. */
  heldUp: number;
  /** What workers are told, by the name under which they listen. */
  readonly channels: SimulatedChannels;
  /** What was known of each key that was given to a slot, by the token of that run. */
  readonly knownWhenGiven: Map<string, Knowledge>;
  /** What was given to slots, by the tokens of the runs. */
  readonly given: Map<string, Giving>;
  /** The version of the function of who offered a slot, by its token. */
  readonly offered: Map<string, number>;
  /** The replication id of the server of the moment. */
  server: string;
  readonly trace: string[];
  say(line: string): void;
  /** A call to Redis that is under way. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Resolves when nothing is under way, and everything that was answered has had its effect. Throws what was broken. */
  quiet(): Promise<void>;
  /** Throws a violation now and, where the process under test catches it, when all is quiet. */
  checked<T>(check: () => T): T;
  /** A token as a trace has it: the same in every run of a schedule. */
  short(token: string): string;
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
  const channels = new SimulatedChannels();
  const knownWhenGiven = new Map<string, Knowledge>();
  const offered = new Map<string, number>();
  const given = new Map<string, Giving>();
  const clock = new VirtualClock(beginning);
  const collect = async (): Promise<void> => {
    for (const { worker, message, given: what } of await post.collect(prefix)) {
      const { slot, token, key, claim } = what;
      self.say(`${key} is given to ${self.short(token)}`);
      const known = self.truth.known(key);
      self.checked(() => {
        if (knownWhenGiven.has(token)) throw new Violation(`${token} was given twice, and at last ${key}`);
        self.truth.granted({ key, token, claim, known }, offered.get(slot) ?? 0, self.local + self.hurried);
      });
      knownWhenGiven.set(token, known);
      given.set(token, { at: self.local, losses: self.truth.losses });
      if (!channels.publish(worker, message)) self.say(`nobody listens for ${self.short(token)}`);
    }
  };
  const self: Surroundings = {
    redis,
    prefix,
    bells: simulatedBells(),
    truth: new Truth(),
    channels,
    knownWhenGiven,
    given,
    offered,
    clock,
    get local() {
      return clock.now();
    },
    ahead: 0,
    hurried: 0,
    heldUp: 0,
    server: "server 0",
    trace,
    say: (line) => void trace.push(`${self.local - beginning} ms: ${line}`),
    ...quietness(),
    short: shortNames(),
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

/** Waits for what is under way, and keeps the first violation. */
function quietness(): Pick<Surroundings, "during" | "quiet" | "checked"> {
  const underWay = new Set<Promise<unknown>>();
  let broken: Violation | undefined;
  return {
    async during(call) {
      const seen = call.catch(() => undefined);
      underWay.add(seen);
      void seen.then(() => underWay.delete(seen));
      return call;
    },
    async quiet() {
      do {
        await Promise.all(underWay);
        await setImmediate();
      } while (underWay.size > 0);
      if (broken) throw broken;
    },
    checked(check) {
      try {
        return check();
      } catch (error) {
        if (error instanceof Violation) broken ??= error;
        throw error;
      }
    },
  };
}

/** Short names of tokens, in the order in which they appear. */
function shortNames(): Surroundings["short"] {
  const names = new Map<string, string>();
  return (token) => {
    const [slot = "", again] = token.split(":");
    const known = names.get(slot) ?? `t${names.size + 1}`;
    names.set(slot, known);
    return again === undefined ? known : `${known}:${again}`;
  };
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
  if (fault === "refused") return "unheard";
  const answer = await ask();
  if (fault === "dies after") throw new Died("after the call");
  return fault === "answer lost" ? "unheard" : answer;
}

export const shown = (bells: readonly Bell[]): string =>
  bells.length === 0 ? "no bell" : bells.map(({ key, number }) => `bell ${number} for ${key}`).join(", ");
