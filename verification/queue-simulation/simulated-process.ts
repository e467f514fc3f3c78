import { type ObjectKey, silentLog } from "@drover/controller";
import { pause, type Timers } from "@drover/timers";
import type { Bell, Bells, Listener } from "../../packages/queue/src/bells.ts";
import { openLedgerWorkQueue } from "../../packages/queue/src/ledger-work-queue.ts";
import { abortVerdict } from "../../packages/queue/src/perform-run.ts";
import type { RedisLedger } from "../../packages/queue/src/redis-ledger.ts";
import { steadfastOptions } from "../../packages/queue/src/steadfast-options.ts";
import { listenOn } from "../../packages/queue/src/subscribe.ts";
import type { QueueWorker, Run, Verdict, WorkQueue } from "../../packages/queue/src/work-queue.ts";
import { ObservedLedger } from "./observed-ledger.ts";
import { type Fault, type Terms, times } from "./schedule.ts";
import type { Ending, SimulatedConnection } from "./simulated-channels.ts";
import { shown, type Surroundings } from "./surroundings.ts";
import { type ObservedRun, type Version, Violation } from "./truth.ts";

/** In a trace: a run began with a copy of its object. */
export const givenACopy = "is given a copy";
/** In a trace: a run began with lists. */
export const givenLists = "is given lists";
/** In a trace: a run began of what was given to a free slot. */
export const givenByLetter = "was given it";

/** How late an answer comes, ms: a good part of a lease. */
const late = 450;
/** A connection that leaves a command unanswered for so long is given up, ms. */
const silence = 1_000;
/** For so long the address of a server that was demoted leads to it, and not to its successor, ms. */
const demotion = 400;
/** A process asks again after that time at most, ms. */
const slowest = 500;
/** How long a run may take, ms: more than a schedule waits at once. */
const timeout = 5_000;

/** What a run tells of its object, with its verdict. */
const telling = ({ version, uid }: Version, { parts }: ObservedRun): Pick<Verdict, "saw"> => ({
  saw: {
    kind: "things",
    uid: `u${uid}`,
    resourceVersion: String(version),
    copy: String(version),
    lists: JSON.stringify(parts),
  },
});

const replyError = (message: string): Error => Object.assign(new Error(message), { name: "ReplyError" });

interface Running {
  readonly run: Run;
  readonly of: ObservedRun;
  readonly end: (verdict: Verdict) => void;
}

/** A listener for bells, and the answers that it is busy with. */
interface Seat {
  readonly answer: (key: ObjectKey) => Promise<void>;
  readonly most: number;
  readonly answering: Set<Promise<void>>;
}

/**
 * One life of a worker process: the shipped queue with its slots, turns, lease keeper and ringer, on a clock of its own. Its
 * calls to Redis meet what the schedule says, and its runs end when the schedule says so.
 */
export class SimulatedProcess {
  frozen = false;
  /** Its calls do not get through. */
  #cut: PromiseWithResolvers<undefined> | undefined;
  /** Its calls are refused. */
  denied = false;
  /** What happens to its next call. */
  fault: Fault = "none";
  readonly name: string;
  readonly terms: Terms;
  readonly #scene: Surroundings;
  readonly #timers: Timers;
  readonly #steadfast: ReturnType<typeof steadfastOptions>;
  #connection: SimulatedConnection | undefined;
  readonly #ledger: RedisLedger;
  readonly #observed: ObservedLedger;
  readonly #queue: WorkQueue;
  readonly #worker: QueueWorker;
  readonly #running = new Set<Running>();
  /** Runs that have come to their end. */
  readonly #ended: Run[] = [];
  #seat: Seat | undefined;
  #dead = false;
  #left: Promise<void> | undefined;
  #hasLeft = false;
  #thawed = Promise.withResolvers<undefined>();

  constructor(scene: Surroundings, name: string, ahead: number, terms: Terms) {
    this.terms = terms;
    const { slots, version, attempts, runs } = terms;
    this.#scene = scene;
    this.name = name;
    this.#timers = scene.clock.timersOf(this, ahead);
    this.#steadfast = steadfastOptions({ clientName: name, silence }, this.#timers);
    this.#ledger = scene.open(() => undefined);
    this.#observed = new ObservedLedger({
      scene,
      ledger: this.#ledger,
      call: (what, ask) => this.#call(what, ask),
      say: (what) => this.#say(what),
      listen: (channel, heard) =>
        listenOn({ channel, heard, timers: this.#timers, connect: () => this.#connect() }),
    });
    const { first, longest } = times;
    let ids = 0;
    this.#queue = openLedgerWorkQueue({
      controller: "simulated",
      bells: this.#bells(),
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

  /** What is wrong with it while nothing is under way. */
  get problem(): string | undefined {
    const { slots } = this.terms;
    if (this.#dead) return undefined;
    // One that was told to stop, and does not, has lost its slot.
    const going = [...this.#running].filter(({ run }) => !run.signal.aborted).length;
    if (going > slots) return `has ${going} runs in ${slots} slots`;
    const late = this.#ended.find((run) => run.held());
    if (late) return `still holds ${late.key}, which it has settled`;
    const isTold = this.#scene.clock.waitsOf(this).includes("settling again");
    const untold = isTold ? undefined : this.#ended.find(({ token }) => this.#observed.isGivenUp(token));
    if (untold) return `no longer tells the verdict of ${untold.key}, though its lease lasts`;
    const { lost } = this.#observed;
    return lost === undefined
      ? undefined
      : `was given ${this.#short(lost)}, and neither runs it nor gives it back`;
  }

  /** Bells that it has taken and not answered. */
  get answering(): number {
    return this.#dead ? 0 : (this.#seat?.answering.size ?? 0);
  }

  /** It takes nothing more. */
  get isLeaving(): boolean {
    return this.#dead || this.#left !== undefined;
  }

  get isGone(): boolean {
    return this.#dead || this.#hasLeft;
  }

  /** Hears what it was given. */
  hearLetters(): void {
    if (!this.frozen && !this.#dead) this.#connection?.receive();
  }

  /** Hears what it is given from now on. */
  get listens(): boolean {
    return this.#connection?.listens ?? false;
  }

  /** The connection on which it listens is no more. */
  disconnect(how: Ending): void {
    this.#connection?.end(how);
  }

  /** Takes a bell, where it has a free hand. */
  takeBell(): boolean {
    const seat = this.#seat;
    if (this.frozen || this.#dead || !seat || seat.answering.size >= seat.most) return false;
    const bell = this.#scene.bells.next();
    if (!bell) return false;
    const answer = seat.answer(bell.key).catch(() => undefined);
    seat.answering.add(answer);
    void answer.then(() => seat.answering.delete(answer));
    return true;
  }

  /** Ends the run that began first. What it writes last, it writes only while it holds its lease. */
  finish(wanted: Verdict): boolean {
    const [first] = this.#running;
    if (this.frozen || this.#dead || !first) return false;
    const { run, of, end } = first;
    const wrote = this.#write(first) ? this.#scene.truth.wrote(of) : undefined;
    this.#running.delete(first);
    this.#ended.push(run);
    end(
      run.signal.aborted ? abortVerdict(run.signal.reason) : { ...wanted, ...(wrote && telling(wrote, of)) },
    );
    return true;
  }

  /** What it said of its slots some time ago arrives once more; nobody waits for the answer. */
  async lateOffer(): Promise<void> {
    const offers = this.#dead ? undefined : this.#observed.takeOffer();
    if (!offers) return;
    this.#say(`offered ${offers.tokens.map((token) => this.#short(token)).join()} once`);
    await this.#scene.during(this.#ledger.offer(offers));
  }

  /** From now on it takes nothing more, and goes when its runs have ended; after the grace they are told to stop. */
  drain(grace: number): void {
    this.#left ??= (async () => {
      await this.#worker.drain(grace);
      await this.#queue.close();
      this.#hasLeft = true;
      this.#say("has left");
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
    this.#seat = undefined;
    this.#connection?.disconnect();
    this.#scene.clock.forget(this);
    for (const worker of this.#observed.enlisted) this.#scene.truth.enlisted(worker, undefined);
  }

  /** What of it is left over, once it has left. */
  get remains(): readonly string[] {
    if (this.#dead) return [];
    const active = this.#worker.active();
    return [
      ...this.#scene.clock.waitsOf(this),
      ...(active > 0 ? [`${active} runs`] : []),
      ...(this.#seat ? ["its listening for bells"] : []),
      ...(this.#observed.listens ? ["its listening for keys"] : []),
    ];
  }

  async #run(run: Run): Promise<Verdict> {
    const { truth, knownWhenGiven: given } = this.#scene;
    const { key, token, claim } = run;
    const known = given.get(token);
    const of = this.#scene.checked(() => {
      if (!known) throw new Violation(`${token} runs ${key}, and it was not given it`);
      return truth.start({ key, token, claim, known });
    });
    this.#say(`runs ${key} as ${this.#short(token)}`);
    if (claim.copy !== undefined) this.#say(givenACopy);
    if (claim.lists !== undefined) this.#say(givenLists);
    if (token.includes(":")) this.#say(givenByLetter);
    this.#observed.runs.set(token, of);
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    const running: Running = { run, of, end: resolve };
    this.#running.add(running);
    this.#write(running);
    return promise;
  }

  /** Writes as a run does: only while it holds its lease. Answers whether it did. */
  #write({ run, of }: Running): boolean {
    if (!run.held()) return false;
    this.#scene.checked(() => this.#scene.truth.effect(of));
    return true;
  }

  /** A connection to listen on; while it is cut off, no server can be reached. */
  #connect(): SimulatedConnection | undefined {
    if (this.#cut) return undefined;
    this.#connection = this.#scene.channels.connect({
      timers: this.#timers,
      send: (what) => this.#call(what, () => Promise.resolve(undefined)),
      reopenedAfter: () => this.#steadfast.retryStrategy(1),
      silence,
    });
    return this.#connection;
  }

  #bells(): Bells {
    const { bells } = this.#scene;
    return {
      add: (rung) => {
        if (rung.length > 0) this.#say(`adds ${shown(rung)}`);
        bells.add(rung);
        return Promise.resolve();
      },
      tell: () => Promise.resolve(),
      waiting: (those: readonly Bell[]) => Promise.resolve(those.filter((bell) => bells.waits(bell))),
      listen: (answer, most): Listener => {
        const seat: Seat = { answer, most, answering: new Set() };
        this.#seat = seat;
        return {
          stop: async () => {
            this.#seat = undefined;
            await Promise.all(seat.answering);
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
    this.#say(`${what}${fault === "none" ? "" : `, ${fault}`}`);
    if (fault === "dies before") this.die();
    if (this.#isDead()) return never;
    if (fault === "refused" || this.denied) throw replyError("OOM command not allowed");
    if (fault === "demoted") await this.#reachSuccessor();
    if (this.#isDead()) return never;
    let answer = await this.#scene.during(ask());
    if (fault === "answer lost") {
      await pause(this.#timers, this.#steadfast.retryStrategy(1), "a connection that is lost");
      if (this.#isDead()) return never;
      answer = await this.#scene.during(ask());
    }
    if (fault === "dies after") this.die();
    if (fault === "late") await pause(this.#timers, late, "an answer that is late");
    if (this.frozen) await this.#thawed.promise;
    return this.#isDead() ? never : answer;
  }

  /** Sends a command again to a server that was demoted, as ioredis does, until its address leads to its successor. */
  async #reachSuccessor(): Promise<void> {
    const steadfast = this.#steadfast;
    const refusal = replyError("READONLY You can't write against a read only replica.");
    const until = this.#timers.now() + demotion;
    for (let last = 0; this.#timers.now() < until;) {
      // A replica takes connections: each is the first attempt.
      const span = steadfast.reconnectOnError(refusal) === 2 ? steadfast.retryStrategy(1) : 0;
      this.#scene.checked(() => {
        if (span <= last && span < slowest)
          throw new Violation(`${this.name} asks a replica again after ${last}, then ${span} ms`);
      });
      last = span;
      await pause(this.#timers, span, "a server that was demoted");
    }
  }

  /** By now: it may have died while it waited. */
  #isDead(): boolean {
    return this.#dead;
  }

  #short(token: string): string {
    return this.#scene.short(token);
  }

  #say(what: string): void {
    this.#scene.say(`${this.name} ${what}`);
  }
}
