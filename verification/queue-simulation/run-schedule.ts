import type { RedisConnection } from "../../packages/queue/src/redis/redis-servers.ts";
import type { RedisLedger, RedisLedgerOptions } from "../../packages/queue/src/ledger/redis-ledger.ts";
import { type Snapshot, snapshotOf } from "./server-data.ts";
import type { WorkerMessages } from "./worker-messages.ts";
import { type Command, longestWait, producers, type Schedule, times } from "./schedule.ts";
import { SimulatedProducer } from "./simulated-producer.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { SimulatedWorkers } from "./simulated-workers.ts";
import { type SharedState, sharedState } from "./shared-state.ts";
import { Violation } from "./oracle.ts";

/** A schedule's violation, with everything that led to it. */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
  readonly trace: readonly string[];
  constructor(cause: unknown, trace: readonly string[]) {
    super(`${cause instanceof Error ? cause.message : String(cause)}\n${trace.join("\n")}`, { cause });
    this.trace = trace;
  }
}

/**
 * A lost job is missed after 2,000 ms; a lease, a backoff and two sleeps of a dispatcher are less than what is left,
 * ms.
 */
const longestUnrest = 3_000;
/** Turns after which a queue that has nothing wrong with it must have come to rest. */
const mostTurns = 1_000;
/**
 * Slots are advertised again after that time, also of a process that still waits for an answer which is late, and an
 * account that is throttled for the longest wait of a schedule is open again, ms.
 */
const longestRecovery = longestWait + 1;
/** A worker notices within this time that its connection is closed, and has subscribed again, ms. */
const longestReconnect = 7_000;
/** The longest that a process may take to leave if its runs end at once, ms. */
const longestLeave = 5_000;
/**
 * Runs one schedule on the shipped scripts, then lets everything heal, and checks every promise.
 *
 * @throws BrokenPromise with the trace, which is the same for the same schedule.
 */
export async function runSchedule(
  { redis, workerMessages }: { readonly redis: RedisConnection; readonly workerMessages: WorkerMessages },
  schedule: Schedule,
  instrument?: RedisLedgerOptions["instrument"],
): Promise<readonly string[]> {
  const simulation = new Simulation(sharedState(redis, workerMessages, instrument));
  try {
    await simulation.begin();
    for (const command of schedule) await simulation.step(command);
    await simulation.heal();
    return simulation.shared.trace;
  } catch (error) {
    throw new BrokenPromise(error, simulation.shared.trace);
  } finally {
    await simulation.forget();
  }
}

class Simulation {
  readonly shared: SharedState;
  readonly #workers: SimulatedWorkers;
  readonly #producers: readonly SimulatedProducer[];
  readonly #operator: RedisLedger;
  readonly #snapshot: Snapshot;
  #servers = 0;
  #changes = 0;

  constructor(shared: SharedState) {
    this.shared = shared;
    this.#workers = new SimulatedWorkers(shared);
    this.#producers = Array.from({ length: producers }, (_, i) => new SimulatedProducer(shared, `p${i}`));
    this.#operator = shared.open(() => undefined);
    this.#snapshot = snapshotOf(shared.redis, shared);
  }

  async begin(): Promise<void> {
    this.#workers.begin();
    for (const producer of this.#producers) await producer.beat();
    await this.#advance(times.recoveryWindow);
  }

  async step(command: Command): Promise<void> {
    await this.#perform(command);
    await this.shared.quiet();
    await this.#workers.check();
  }

  async #perform(command: Command): Promise<void> {
    const { shared } = this;
    switch (command.do) {
      case "change":
        this.#change(command.key, command.recreate);
        return;
      case "change part":
        this.#changePart(command.key, command.part);
        return;
      case "deliver":
        return this.#producers[command.producer]?.deliver(command.class, command.fault);
      case "list":
        return this.#producers[command.producer]?.list();
      case "take":
        return this.#workers.meeting(command, (process) => process.takeJob());
      case "receive":
        return this.#workers.meeting(command, (process) => {
          process.receiveMessages();
        });
      case "finish":
        return this.#workers.meeting(command, (process) => process.finish(command.outcome));
      case "trouble":
      case "freeze":
      case "thaw":
      case "cut":
      case "deny":
      case "mend":
      case "disconnect":
      case "kill":
      case "late advertisement":
        return this.#workers.disturb(command);
      case "advance":
        return this.#advance(command.ms);
      case "step clock":
        shared.log(`the server's clock steps by ${command.ms} ms`);
        shared.ahead += command.ms;
        shared.hurried += Math.max(0, command.ms);
        shared.heldUp += Math.max(0, -command.ms);
        return;
      case "lose messages":
      case "lose jobs":
      case "double jobs":
        this.#loseOrDouble(command.do);
        return;
      case "snapshot":
        return this.#snapshot.take();
      case "restart":
      case "fail over":
      case "flush":
        return this.#loseServer(command.do);
      case "pause":
      case "resume":
        return this.#hold(command.scope, command.do === "pause");
      case "force":
        return this.#force(command.key);
      case "roll out":
        this.#workers.rollOut(command.worker, command.terms);
        return;
    }
  }

  #loseOrDouble(what: "lose messages" | "lose jobs" | "double jobs"): void {
    const { jobs, channels } = this.shared;
    this.shared.log(what);
    if (what === "lose messages") channels.lose();
    else if (what === "lose jobs") jobs.lose();
    else jobs.double();
  }

  forget(): Promise<void> {
    for (const each of this.#workers.all) each.die();
    return this.#snapshot.forget();
  }

  /** Faults end: everything that was begun ends, and the queue must come to rest with every change seen. */
  async heal(): Promise<void> {
    const { shared } = this;
    shared.log("-- from here on nothing goes wrong --");
    for (const scope of shared.oracle.scopes.keys()) await this.#hold(scope, false);
    this.#workers.heal();
    await shared.quiet(); // what was known when a key was assigned is known only if one call is made at a time
    await this.#comeToRest();
    const { keys: parked } = await this.#operator.list("parked", 100);
    shared.oracle.converged(new Set(parked.map(({ key }) => key)));
    await this.#isPrompt();
    await this.#allLeave();
  }

  async #comeToRest(): Promise<void> {
    const { shared } = this;
    const began = shared.clock.now();
    for (let turn = 0; turn < mostTurns; turn++) {
      for (const producer of this.#producers) {
        await producer.beat();
        if (producer.busy) await producer.deliver("change", "none");
      }
      const worked = await this.#work();
      if (await this.#rests()) {
        const took = shared.clock.now() - began;
        if (took > longestUnrest + shared.heldUp)
          throw new Violation(`The queue came to rest after ${took} ms`);
        return;
      }
      if (!worked && shared.channels.size === 0) await this.#advance(shared.clock.next ?? 1);
    }
    throw new Violation(`The queue does not come to rest: ${JSON.stringify(await this.#operator.count())}`);
  }

  /** Everything that is on its way arrives, and runs end as they should. Answers whether there was a job or a run. */
  async #work(): Promise<boolean> {
    let worked = false;
    for (const process of this.#workers.all) {
      process.receiveMessages();
      worked = process.takeJob() || worked;
      await this.shared.quiet();
      for (; process.finish({ kind: "done" }); worked = true) await this.shared.quiet();
    }
    await this.#workers.check();
    return worked;
  }

  async #rests(): Promise<boolean> {
    if (this.#producers.some((each) => each.busy)) return false;
    const isBusy = ({ running, processing }: SimulatedProcess): boolean => running.length + processing > 0;
    if (this.#workers.all.some(isBusy)) return false;
    const { due, scheduled, running } = await this.#operator.count();
    return due + scheduled + running === 0;
  }

  /** A queue at rest gives a change to an idle slot at once: no time passes, and no job is needed. */
  async #isPrompt(): Promise<void> {
    const { shared } = this;
    // A run that Redis has lost may begin meanwhile, where its answer was late, and an account may open late.
    do await this.#advance(longestRecovery + shared.heldUp);
    while (await this.#work());
    const end = shared.clock.now() + longestReconnect;
    while (this.#workers.notListening !== undefined) {
      if (shared.clock.now() > end)
        throw new Violation(`${this.#workers.notListening} does not receive the keys that it is assigned`);
      await this.#advance(100);
    }
    for (const [key] of shared.oracle.names.entries()) this.#change(key, false);
    for (const producer of this.#producers) if (producer.busy) await producer.deliver("change", "none");
    do {
      for (const process of this.#workers.all) process.receiveMessages();
      await shared.quiet(); // a key that is given back goes to another worker
    } while (shared.channels.size > 0);
    const begun = this.#workers.all.flatMap(({ running }) => running).length;
    const changed = shared.oracle.names.length;
    if (begun !== Math.min(this.#workers.slots, changed))
      throw new Violation(
        `${changed} changes found ${this.#workers.slots} free slots, and ${begun} runs began at once`,
      );
    await this.#comeToRest();
  }

  /** A process that leaves a queue at rest leaves nothing behind. */
  async #allLeave(): Promise<void> {
    const { shared } = this;
    const processes = this.#workers.all;
    this.#workers.leave();
    const end = shared.clock.now() + longestLeave;
    await shared.quiet();
    while (!processes.every(({ isGone }) => isGone) && shared.clock.step(end)) await shared.quiet();
    for (const process of processes) {
      if (!process.isGone)
        throw new Violation(`${process.name} does not leave: ${process.remains.join(", ")}`);
      if (process.remains.length > 0)
        throw new Violation(`${process.name} left ${process.remains.join(", ")}`);
    }
    const { running } = await this.#operator.count();
    if (running > 0) throw new Violation(`${running} keys are leased, and no worker is left`);
    this.#change(0, false);
    const assigned = shared.assigned.size;
    for (const producer of this.#producers) if (producer.busy) await producer.deliver("change", "none");
    if (shared.assigned.size > assigned) throw new Violation("A key was assigned to a worker that has left");
    shared.log("all have left");
  }

  #change(key: number, recreate: boolean): void {
    const name = this.shared.oracle.names[key];
    if (name === undefined) return;
    this.shared.log(`${name} changes${recreate ? ", recreated" : ""}`);
    this.shared.oracle.change(name, recreate);
    this.#producers[this.#changes++ % producers]?.see(name);
  }

  /** One stream emits the changes of a kind: one producer emits those of all parts of a key, in their order. */
  #changePart(key: number, part: number): void {
    const { oracle } = this.shared;
    const name = oracle.names[key];
    if (name === undefined || oracle.of(name).version === 0) return;
    const version = oracle.changePart(name, part);
    this.shared.log(`part ${part} of ${name} is at ${version}`);
    this.#producers[key % producers]?.seePart({ key: name, part, version });
  }

  async #advance(ms: number): Promise<void> {
    const { clock } = this.shared;
    const end = clock.now() + ms;
    await this.shared.quiet();
    while (clock.step(end)) {
      await this.shared.quiet();
      await this.#workers.check();
      this.#workers.replaceDead();
    }
  }

  async #loseServer(how: "restart" | "fail over" | "flush"): Promise<void> {
    const { shared } = this;
    shared.log(`redis: ${how}`);
    shared.oracle.dataLost();
    if (how !== "flush") shared.server = `server${++this.#servers}`;
    if (how !== "restart") await this.#snapshot.restore(how === "flush");
  }

  async #hold(scope: number, on: boolean): Promise<void> {
    const { oracle, jobs } = this.shared;
    const what = oracle.scopes[scope];
    if (!what) return;
    this.shared.log(`${on ? "pause" : "resume"} ${JSON.stringify(what)}`);
    if (!on) oracle.paused(scope, false); // what was held back may be assigned in the same instant
    jobs.add(await (on ? this.#operator.pause(what, "simulation") : this.#operator.resume(what)));
    if (on) oracle.paused(scope, true);
  }

  async #force(key: number): Promise<void> {
    const { oracle, jobs } = this.shared;
    const name = oracle.names[key];
    if (name === undefined || oracle.of(name).version === 0) return;
    this.shared.log(`force ${name}`);
    oracle.wakeSent(name);
    oracle.forgetFailures(name);
    const wake = {
      key: name,
      kind: "force",
      resourceVersion: "0",
      reason: "Forced",
      class: "change",
    } as const;
    jobs.add(await this.#operator.wake([wake], true));
  }
}
