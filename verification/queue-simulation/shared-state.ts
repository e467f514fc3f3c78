import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { ClaimJob } from "../../packages/queue/src/worker/job-queue.ts";
import type { RedisConnection } from "../../packages/queue/src/redis/redis-servers.ts";
import {
  openRedisLedger,
  type RedisLedger,
  type RedisLedgerOptions,
} from "../../packages/queue/src/ledger/redis-ledger.ts";
import type { WorkerMessages } from "./worker-messages.ts";
import { type Fault, times } from "./schedule.ts";
import { SimulatedChannels } from "./simulated-channels.ts";
import { VirtualTimers } from "@drover/timers";
import { type SimulatedJobs, simulatedJobs } from "./simulated-jobs.ts";
import { type Knowledge, Oracle, Violation } from "./oracle.ts";

/** The first time of the clock, ms. */
const beginning = 1_000_000;

/** The caller died in the middle of a call to Redis. */
export class Died extends Error {
  override readonly name = "Died";
}

/** When a key was assigned to a slot, and after how many losses of data. */
export interface AssignmentTime {
  readonly at: number;
  readonly losses: number;
}

/** Shared by the actors of one schedule: a real Redis, clocks, jobs, and the oracle. */
export interface SharedState {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly jobs: SimulatedJobs;
  readonly oracle: Oracle;
  readonly clock: VirtualTimers;
  /** Time that only goes forward, as a process measures it. */
  readonly local: number;
  /** The server's clock is ahead of that by this. */
  ahead: number;
  /** The sum of its steps forward: a timer may be so much early, and never more. */
  hurried: number;
  /** The sum of its steps back: what waits for a time may be so much late. */
  heldUp: number;
  /** The channels of the workers, by their names. */
  readonly channels: SimulatedChannels;
  /** The knowledge of each key when it was assigned to a slot, by the token of that run. */
  readonly knownWhenAssigned: Map<string, Knowledge>;
  /** The assignments to slots, by the tokens of the runs. */
  readonly assigned: Map<string, AssignmentTime>;
  /** The version of the function for which a slot was advertised, by its token. */
  readonly advertised: Map<string, number>;
  /** The replication id of the server of the moment. */
  server: string;
  readonly trace: string[];
  log(line: string): void;
  /** A call to Redis that is under way. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Resolves when nothing is under way, and everything that was answered has had its effect. Throws what was broken. */
  quiet(): Promise<void>;
  /** Throws a violation now and, where the process under test catches it, when all is quiet. */
  checked<T>(check: () => T): T;
  /** A token as a trace has it: the same in every run of a schedule. */
  short(token: string): string;
  /** A ledger as one process opens it, which is notified of every incarnation but its first. */
  open(onNewIncarnation: () => void): RedisLedger;
}

export function sharedState(
  redis: RedisConnection,
  workerMessages: WorkerMessages,
  instrument: RedisLedgerOptions["instrument"],
): SharedState {
  const prefix = `{drover:${randomUUID()}}`;
  const trace: string[] = [];
  const channels = new SimulatedChannels();
  const knownWhenAssigned = new Map<string, Knowledge>();
  const advertised = new Map<string, number>();
  const assigned = new Map<string, AssignmentTime>();
  const clock = new VirtualTimers(beginning);
  const collect = async (): Promise<void> => {
    for (const { worker, message, assignment } of await workerMessages.collect(prefix)) {
      const { slot, token, key, claim } = assignment;
      self.log(`${key} is assigned to ${self.short(token)}`);
      const known = self.oracle.known(key);
      self.checked(() => {
        if (knownWhenAssigned.has(token))
          throw new Violation(`${token} was assigned twice, and at last ${key}`);
        self.oracle.granted(
          { key, token, claim, known },
          advertised.get(slot) ?? 0,
          self.local + self.hurried,
        );
      });
      knownWhenAssigned.set(token, known);
      assigned.set(token, { at: self.local, losses: self.oracle.losses });
      if (!channels.publish(worker, message)) self.log(`no worker is subscribed for ${self.short(token)}`);
    }
  };
  const self: SharedState = {
    redis,
    prefix,
    jobs: simulatedJobs(),
    oracle: new Oracle(),
    channels,
    knownWhenAssigned,
    assigned,
    advertised,
    clock,
    get local() {
      return clock.now();
    },
    ahead: 0,
    hurried: 0,
    heldUp: 0,
    server: "server0",
    trace,
    log: (line) => void trace.push(`${self.local - beginning} ms: ${line}`),
    ...quietness(),
    short: shortNames(),
    open(onNewIncarnation) {
      let known = false;
      const ledger = openRedisLedger({
        redis,
        prefix,
        lease: times.lease,
        recoveryWindow: times.recoveryWindow,
        now: () => self.local + self.ahead,
        server: () => self.server,
        random: () => 0.5,
        onIncarnation: () => {
          if (known) onNewIncarnation();
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
function quietness(): Pick<SharedState, "during" | "quiet" | "checked"> {
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
function shortNames(): SharedState["short"] {
  const names = new Map<string, string>();
  return (token) => {
    const [slot = "", ...assignment] = token.split(":");
    const known = names.get(slot) ?? `t${names.size + 1}`;
    names.set(slot, known);
    return [known, ...assignment].join(":");
  };
}

/** A ledger after each call of which the new assignments are known. */
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
    advertise: after((...args: Parameters<RedisLedger["advertise"]>) => ledger.advertise(...args)),
    dispatch: after((...args: Parameters<RedisLedger["dispatch"]>) => ledger.dispatch(...args)),
    pause: after((...args: Parameters<RedisLedger["pause"]>) => ledger.pause(...args)),
    resume: after((...args: Parameters<RedisLedger["resume"]>) => ledger.resume(...args)),
  };
}

/** Calls Redis, with the fault of the schedule. Resolves with "unanswered" if the answer is lost. */
export async function call<T>(fault: Fault, ask: () => Promise<T>): Promise<T | "unanswered"> {
  if (fault === "dies before") throw new Died("before the call");
  if (fault === "refused") return "unanswered";
  const answer = await ask();
  if (fault === "dies after") throw new Died("after the call");
  return fault === "answer lost" ? "unanswered" : answer;
}

export const shown = (jobs: readonly ClaimJob[]): string =>
  jobs.length === 0 ? "no job" : jobs.map(({ key, number }) => `job ${number} for ${key}`).join(", ");
