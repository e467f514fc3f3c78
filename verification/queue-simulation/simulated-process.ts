import { type ObjectKey, silentLog } from "@drover/controller";
import { sleep, type Timers } from "@drover/timers";
import type { ClaimJob, JobQueue, JobConsumer } from "../../packages/queue/src/worker/job-queue.ts";
import { openLedgerWorkQueue } from "../../packages/queue/src/work-queue/ledger-work-queue.ts";
import { abortOutcome } from "../../packages/queue/src/worker/runner.ts";
import type { RedisLedger } from "../../packages/queue/src/ledger/redis-ledger.ts";
import { reconnectOptions } from "../../packages/queue/src/redis/reconnect-options.ts";
import { subscribeOver } from "../../packages/queue/src/redis/subscribe.ts";
import type {
  QueueWorker,
  Run,
  RunOutcome,
  WorkQueue,
} from "../../packages/queue/src/work-queue/work-queue.ts";
import { ObservedLedger } from "./observed-ledger.ts";
import { type Fault, type Terms, times } from "./schedule.ts";
import type { Ending, SimulatedConnection } from "./simulated-channels.ts";
import { shown, type SharedState } from "./shared-state.ts";
import { type ObservedRun, type Version, Violation } from "./oracle.ts";

/** In a trace: a run began with a cached object. */
export const getsCachedObject = "gets a cached object";
/** In a trace: a run began with cached lists. */
export const getsCachedLists = "gets cached lists";
/** In a trace: a run began as the first one of its object. */
export const isFirst = "is the first of its object";
/** In a trace: a run began with a key that was assigned to an idle slot. */
export const wasAssigned = "was assigned it";

/** How late an answer comes, ms: a good part of a lease. */
const late = 450;
/** A connection that leaves a command unanswered for so long is given up, ms. */
const socketTimeout = 1_000;
/** For so long the address of a server that was demoted leads to it, and not to its successor, ms. */
const demotion = 400;
/** A process asks again after that time at most, ms. */
const slowest = 500;
/** How long a run may take, ms: more than a schedule waits at once. */
const timeout = 5_000;

/** The version of its object that a run reports with its outcome. */
const observedIn = ({ version, uid }: Version, { parts }: ObservedRun): Pick<RunOutcome, "observed"> => ({
  observed: {
    kind: "things",
    uid: `u${uid}`,
    resourceVersion: String(version),
    cachedObject: String(version),
    cachedLists: JSON.stringify(parts),
    seen: parts.map((of, part) => JSON.stringify({ part, version: of })),
  },
});

const replyError = (message: string): Error => Object.assign(new Error(message), { name: "ReplyError" });

interface Running {
  readonly run: Run;
  readonly of: ObservedRun;
  readonly end: (outcome: RunOutcome) => void;
}

/** A consumer of jobs, and the jobs that it is processing. */
interface Consumer {
  readonly processJob: (key: ObjectKey) => Promise<void>;
  readonly concurrency: number;
  readonly processing: Set<Promise<void>>;
}

/**
 * One worker process: the shipped queue with its slots, runner, lease keeper and dispatcher, on a clock of its own. The
 * schedule decides the faults of its calls to Redis, and when its runs end.
 */
export class SimulatedProcess {
  frozen = false;
  /** Its calls do not get through. */
  #cut: PromiseWithResolvers<undefined> | undefined;
  /** Its calls are refused. */
  denied = false;
  /** The fault of its next call. */
  fault: Fault = "none";
  readonly name: string;
  readonly terms: Terms;
  readonly #shared: SharedState;
  readonly #timers: Timers;
  readonly #reconnect: ReturnType<typeof reconnectOptions>;
  #connection: SimulatedConnection | undefined;
  readonly #ledger: RedisLedger;
  readonly #observed: ObservedLedger;
  readonly #queue: WorkQueue;
  readonly #worker: QueueWorker;
  readonly #running = new Set<Running>();
  /** Runs that have come to their end. */
  readonly #ended: Run[] = [];
  #consumer: Consumer | undefined;
  #dead = false;
  #left: Promise<void> | undefined;
  #hasLeft = false;
  #thawed = Promise.withResolvers<undefined>();

  constructor(shared: SharedState, name: string, ahead: number, terms: Terms) {
    this.terms = terms;
    const { slots, version, attempts, runs } = terms;
    this.#shared = shared;
    this.name = name;
    this.#timers = shared.clock.timersOf(this, ahead);
    this.#reconnect = reconnectOptions({ clientName: name, socketTimeout }, this.#timers);
    this.#ledger = shared.open(() => undefined);
    this.#observed = new ObservedLedger({
      shared,
      ledger: this.#ledger,
      call: (what, ask) => this.#call(what, ask),
      log: (what) => this.#log(what),
      listen: (channel, onMessage) =>
        subscribeOver({ channel, onMessage, timers: this.#timers, connect: () => this.#connect() }),
    });
    const { first, longest } = times;
    let ids = 0;
    this.#queue = openLedgerWorkQueue({
      controller: "simulated",
      jobQueue: this.#jobQueue(),
      log: silentLog,
      timers: this.#timers,
      times,
      newId: () => `${name}-${++ids}`,
      openLedger: () => ({ ledger: this.#observed.asLedger(), async *keys() {} }),
      onIncarnation: undefined,
      ping: () => Promise.resolve(),
    });
    this.#worker = this.#queue.work((run) => this.#run(run), {
      concurrency: slots,
      timeout,
      version,
      backoff: { first, longest, ...(attempts !== undefined && { attempts }) },
      ...(runs && { limits: { runs } }),
    });
  }

  /** Runs under way, as the world sees them. */
  get running(): readonly Running[] {
    return [...this.#running];
  }

  /** A broken promise of this process while nothing is under way. */
  get problem(): string | undefined {
    const { slots } = this.terms;
    if (this.#dead) return undefined;
    // A run that was aborted and does not end has lost its slot.
    const going = [...this.#running].filter(({ run }) => !run.signal.aborted).length;
    if (going > slots) return `has ${going} runs in ${slots} slots`;
    const late = this.#ended.find((run) => run.hasLease());
    if (late) return `still holds ${late.key}, which it has settled`;
    const isSending = this.#shared.clock.waitsOf(this).includes("settling again");
    const unsent = isSending ? undefined : this.#ended.find(({ token }) => this.#observed.isGivenUp(token));
    if (unsent) return `no longer sends the outcome of ${unsent.key}, though its lease lasts`;
    const { lost } = this.#observed;
    return lost === undefined
      ? undefined
      : `was assigned ${this.#short(lost)}, and neither runs it nor gives it back`;
  }

  /** Jobs that it has taken and not processed. */
  get processing(): number {
    return this.#dead ? 0 : (this.#consumer?.processing.size ?? 0);
  }

  /** It takes nothing more. */
  get isLeaving(): boolean {
    return this.#dead || this.#left !== undefined;
  }

  get isGone(): boolean {
    return this.#dead || this.#hasLeft;
  }

  /** Receives the keys that it was assigned. */
  receiveMessages(): void {
    if (!this.frozen && !this.#dead) this.#connection?.receive();
  }

  /** True if it receives the keys that it is assigned from now on. */
  get listens(): boolean {
    return this.#connection?.listens ?? false;
  }

  /** The connection on which it listens is no more. */
  disconnect(how: Ending): void {
    this.#connection?.end(how);
  }

  /** Takes a job, if its consumer has free capacity. */
  takeJob(): boolean {
    const consumer = this.#consumer;
    if (this.frozen || this.#dead || !consumer || consumer.processing.size >= consumer.concurrency)
      return false;
    const job = this.#shared.jobs.next();
    if (!job) return false;
    const processed = consumer.processJob(job.key).catch(() => undefined);
    consumer.processing.add(processed);
    void processed.then(() => consumer.processing.delete(processed));
    return true;
  }

  /** Ends the run that began first. What it writes last, it writes only while it holds its lease. */
  finish(wanted: RunOutcome): boolean {
    const [first] = this.#running;
    if (this.frozen || this.#dead || !first) return false;
    const { run, of, end } = first;
    const wrote = this.#write(first) ? this.#shared.oracle.wrote(of) : undefined;
    this.#running.delete(first);
    this.#ended.push(run);
    end(
      run.signal.aborted
        ? abortOutcome(run.signal.reason)
        : { ...wanted, ...(wrote && observedIn(wrote, of)) },
    );
    return true;
  }

  /** An earlier advertisement of its slots arrives once more; its answer is not used. */
  async lateAdvertisement(): Promise<void> {
    const slots = this.#dead ? undefined : this.#observed.takeAdvertisement();
    if (!slots) return;
    this.#log(`advertised ${slots.tokens.map((token) => this.#short(token)).join()} once`);
    await this.#shared.during(this.#ledger.advertise(slots));
  }

  /** From now on it takes nothing more, and goes when its runs have ended; after the grace they are aborted. */
  drain(grace: number): void {
    this.#left ??= (async () => {
      await this.#worker.drain(grace);
      await this.#queue.close();
      this.#hasLeft = true;
      this.#log("has left");
    })();
  }

  cut(): void {
    this.#cut ??= Promise.withResolvers();
  }

  mend(): void {
    this.#cut?.resolve(undefined);
    this.#cut = undefined;
    this.denied = false;
  }

  thaw(): void {
    this.frozen = false;
    this.#thawed.resolve(undefined);
    this.#thawed = Promise.withResolvers();
  }

  /** The process ends: nothing that it began goes on. */
  die(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#running.clear();
    this.#consumer = undefined;
    this.#connection?.disconnect();
    this.#shared.clock.forget(this);
    for (const worker of this.#observed.registered) this.#shared.oracle.registered(worker, undefined);
  }

  /** Its timers, runs and subscriptions that remain after it has left. */
  get remains(): readonly string[] {
    if (this.#dead) return [];
    const active = this.#worker.active();
    return [
      ...this.#shared.clock.waitsOf(this),
      ...(active > 0 ? [`${active} runs`] : []),
      ...(this.#consumer ? ["its consumer of jobs"] : []),
      ...(this.#observed.listens ? ["its listening for keys"] : []),
    ];
  }

  async #run(run: Run): Promise<RunOutcome> {
    const { oracle, knownWhenAssigned } = this.#shared;
    const { key, token, claim } = run;
    const known = knownWhenAssigned.get(token);
    const of = this.#shared.checked(() => {
      if (!known) throw new Violation(`${token} runs ${key}, which it was not assigned`);
      return oracle.start({ key, token, claim, known });
    });
    this.#log(`runs ${key} as ${this.#short(token)}`);
    if (claim.cachedObject !== undefined) this.#log(getsCachedObject);
    if (claim.cachedLists !== undefined) this.#log(getsCachedLists);
    if (claim.isFirst) this.#log(isFirst);
    if (token.includes(":")) this.#log(wasAssigned);
    this.#observed.runs.set(token, of);
    const { promise, resolve } = Promise.withResolvers<RunOutcome>();
    const running: Running = { run, of, end: resolve };
    this.#running.add(running);
    this.#write(running);
    return promise;
  }

  /** Writes as a run does: only while it holds its lease. Answers whether it did. */
  #write({ run, of }: Running): boolean {
    if (!run.hasLease()) return false;
    this.#shared.checked(() => this.#shared.oracle.effect(of));
    return true;
  }

  /** A connection to listen on; while it is cut off, no server can be reached. */
  #connect(): SimulatedConnection | undefined {
    if (this.#cut) return undefined;
    this.#connection = this.#shared.channels.connect({
      timers: this.#timers,
      send: (what) => this.#call(what, () => Promise.resolve(undefined)),
      reopenedAfter: () => this.#reconnect.retryStrategy(1),
      socketTimeout,
    });
    return this.#connection;
  }

  #jobQueue(): JobQueue {
    const { jobs } = this.#shared;
    return {
      add: (added) => {
        if (added.length > 0) this.#log(`adds ${shown(added)}`);
        jobs.add(added);
        return Promise.resolve();
      },
      addFailed: () => Promise.resolve(),
      stillWaiting: (those: readonly ClaimJob[]) => Promise.resolve(those.filter((job) => jobs.waits(job))),
      consume: (processJob, concurrency): JobConsumer => {
        const consumer: Consumer = { processJob, concurrency, processing: new Set() };
        this.#consumer = consumer;
        return {
          stop: async () => {
            this.#consumer = undefined;
            await Promise.all(consumer.processing);
          },
        };
      },
      close: () => Promise.resolve(),
    };
  }

  /** A call to Redis, with what goes wrong with it. A process that died, or stands still, goes no further. */
  async #call<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const never = new Promise<never>(() => undefined);
    if (this.#isDead()) return never;
    if (this.frozen) await this.#thawed.promise;
    while (this.#cut) await this.#cut.promise;
    const { fault } = this;
    this.fault = "none";
    this.#log(`${what}${fault === "none" ? "" : `, ${fault}`}`);
    if (fault === "dies before") this.die();
    if (this.#isDead()) return never;
    if (fault === "refused" || this.denied) throw replyError("OOM command not allowed");
    if (fault === "demoted") await this.#reachSuccessor();
    if (this.#isDead()) return never;
    let answer = await this.#shared.during(ask());
    if (fault === "answer lost") {
      await sleep(this.#timers, this.#reconnect.retryStrategy(1), "a connection that is lost");
      if (this.#isDead()) return never;
      answer = await this.#shared.during(ask());
    }
    if (fault === "dies after") this.die();
    if (fault === "late") await sleep(this.#timers, late, "an answer that is late");
    if (this.frozen) await this.#thawed.promise;
    return this.#isDead() ? never : answer;
  }

  /** Sends a command again to a server that was demoted, as ioredis does, until its address leads to its successor. */
  async #reachSuccessor(): Promise<void> {
    const reconnect = this.#reconnect;
    const refusal = replyError("READONLY You can't write against a read only replica.");
    const until = this.#timers.now() + demotion;
    for (let last = 0; this.#timers.now() < until;) {
      // A replica takes connections: each is the first attempt.
      const span = reconnect.reconnectOnError(refusal) === 2 ? reconnect.retryStrategy(1) : 0;
      this.#shared.checked(() => {
        if (span <= last && span < slowest)
          throw new Violation(`${this.name} asks a replica again after ${last}, then ${span} ms`);
      });
      last = span;
      await sleep(this.#timers, span, "a server that was demoted");
    }
  }

  /** By now: it may have died while it waited. */
  #isDead(): boolean {
    return this.#dead;
  }

  #short(token: string): string {
    return this.#shared.short(token);
  }

  #log(what: string): void {
    this.#shared.log(`${this.name} ${what}`);
  }
}
