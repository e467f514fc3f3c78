import type { RedisConnection } from "../../packages/queue/src/redis/redis-servers.ts";
import type { RedisLedger, RedisLedgerOptions } from "../../packages/queue/src/ledger/redis-ledger.ts";
import { type Snapshot, snapshotOf } from "./server-data.ts";
import type { Post } from "./worker-messages.ts";
import { type Command, longestWait, producers, type Schedule, times } from "./schedule.ts";
import { SimulatedProducer } from "./simulated-producer.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { SimulatedWorkers } from "./simulated-workers.ts";
import { type Surroundings, surroundings } from "./shared-state.ts";
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
/** Who listens is told by then that its connection is no more, and listens again, ms. */
const longestDeafness = 7_000;
/** How long a process may take to leave whose runs end at once, ms. */
const longestLeave = 5_000;
/**
 * Runs one schedule on the shipped scripts, then lets everything heal, and checks every promise.
 *
 * @throws BrokenPromise with the trace, which is the same for the same schedule.
 */
export async function runSchedule(
  { redis, post }: { readonly redis: RedisConnection; readonly post: Post },
  schedule: Schedule,
  instrument?: RedisLedgerOptions["instrument"],
): Promise<readonly string[]> {
  const simulation = new Simulation(surroundings(redis, post, instrument));
  try {
    await simulation.begin();
    for (const command of schedule) await simulation.step(command);
    await simulation.heal();
    return simulation.scene.trace;
  } catch (error) {
    throw new BrokenPromise(error, simulation.scene.trace);
  } finally {
    await simulation.forget();
  }
}

class Simulation {
  readonly scene: Surroundings;
  readonly #workers: SimulatedWorkers;
  readonly #producers: readonly SimulatedProducer[];
  readonly #people: RedisLedger;
  readonly #snapshot: Snapshot;
  #servers = 0;
  #changes = 0;

  constructor(scene: Surroundings) {
    this.scene = scene;
    this.#workers = new SimulatedWorkers(scene);
    this.#producers = Array.from({ length: producers }, (_, i) => new SimulatedProducer(scene, `p${i}`));
    this.#people = scene.open(() => undefined);
    this.#snapshot = snapshotOf(scene.redis, scene);
  }

  async begin(): Promise<void> {
    this.#workers.begin();
    for (const producer of this.#producers) await producer.beat();
    await this.#advance(times.recoveryWindow);
  }

  async step(command: Command): Promise<void> {
    await this.#perform(command);
    await this.scene.quiet();
    await this.#workers.check();
  }

  async #perform(command: Command): Promise<void> {
    const { scene } = this;
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
      case "hear":
        return this.#workers.meeting(command, (process) => {
          process.receiveMessages();
        });
      case "finish":
        return this.#workers.meeting(command, (process) => process.finish(command.verdict));
      case "trouble":
      case "freeze":
      case "thaw":
      case "cut":
      case "deny":
      case "mend":
      case "disconnect":
      case "kill":
      case "late offer":
        return this.#workers.disturb(command);
      case "advance":
        return this.#advance(command.ms);
      case "step clock":
        scene.say(`the server's clock steps by ${command.ms} ms`);
        scene.ahead += command.ms;
        scene.hurried += Math.max(0, command.ms);
        scene.heldUp += Math.max(0, -command.ms);
        return;
      case "lose letters":
      case "lose bells":
      case "double bells":
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
      case "enlist":
        this.#workers.rollOut(command.worker, command.terms);
        return;
    }
  }

  #loseOrDouble(what: "lose letters" | "lose bells" | "double bells"): void {
    const { jobs, channels } = this.scene;
    this.scene.say(what);
    if (what === "lose letters") channels.lose();
    else if (what === "lose bells") jobs.lose();
    else jobs.double();
  }

  forget(): Promise<void> {
    for (const each of this.#workers.all) each.die();
    return this.#snapshot.forget();
  }

  /** Faults end: everything that was begun ends, and the queue must come to rest with every change seen. */
  async heal(): Promise<void> {
    const { scene } = this;
    scene.say("-- from here on nothing goes wrong --");
    for (const scope of scene.truth.scopes.keys()) await this.#hold(scope, false);
    this.#workers.heal();
    await scene.quiet(); // what was known when a key was assigned is known only if one call is made at a time
    await this.#comeToRest();
    const { keys: parked } = await this.#people.list("parked", 100);
    scene.truth.converged(new Set(parked.map(({ key }) => key)));
    await this.#isPrompt();
    await this.#allLeave();
  }

  async #comeToRest(): Promise<void> {
    const { scene } = this;
    const began = scene.clock.now();
    for (let turn = 0; turn < mostTurns; turn++) {
      for (const producer of this.#producers) {
        await producer.beat();
        if (producer.busy) await producer.deliver("change", "none");
      }
      const worked = await this.#work();
      if (await this.#rests()) {
        const took = scene.clock.now() - began;
        if (took > longestUnrest + scene.heldUp)
          throw new Violation(`The queue came to rest after ${took} ms`);
        return;
      }
      if (!worked && scene.channels.size === 0) await this.#advance(scene.clock.next ?? 1);
    }
    throw new Violation(`The queue does not come to rest: ${JSON.stringify(await this.#people.count())}`);
  }

  /** Everything that is on its way arrives, and runs end as they should. Answers whether there was a job or a run. */
  async #work(): Promise<boolean> {
    let worked = false;
    for (const process of this.#workers.all) {
      process.receiveMessages();
      worked = process.takeJob() || worked;
      await this.scene.quiet();
      for (; process.finish({ kind: "done" }); worked = true) await this.scene.quiet();
    }
    await this.#workers.check();
    return worked;
  }

  async #rests(): Promise<boolean> {
    if (this.#producers.some((each) => each.busy)) return false;
    const isBusy = ({ running, processing }: SimulatedProcess): boolean => running.length + processing > 0;
    if (this.#workers.all.some(isBusy)) return false;
    const { due, scheduled, running } = await this.#people.count();
    return due + scheduled + running === 0;
  }

  /** A queue at rest gives a change to an idle slot at once: no time passes, and no job is needed. */
  async #isPrompt(): Promise<void> {
    const { scene } = this;
    // A run that Redis has lost may begin meanwhile, where its answer was late, and an account may open late.
    do await this.#advance(longestRecovery + scene.heldUp);
    while (await this.#work());
    const end = scene.clock.now() + longestDeafness;
    while (this.#workers.deaf !== undefined) {
      if (scene.clock.now() > end)
        throw new Violation(`${this.#workers.deaf} does not receive the keys that it is assigned`);
      await this.#advance(100);
    }
    for (const [key] of scene.truth.names.entries()) this.#change(key, false);
    for (const producer of this.#producers) if (producer.busy) await producer.deliver("change", "none");
    do {
      for (const process of this.#workers.all) process.receiveMessages();
      await scene.quiet(); // what is given back goes to another
    } while (scene.channels.size > 0);
    const begun = this.#workers.all.flatMap(({ running }) => running).length;
    const changed = scene.truth.names.length;
    if (begun !== Math.min(this.#workers.slots, changed))
      throw new Violation(
        `${changed} changes found ${this.#workers.slots} free slots, and ${begun} runs began at once`,
      );
    await this.#comeToRest();
  }

  /** Whoever leaves a queue at rest leaves nothing behind. */
  async #allLeave(): Promise<void> {
    const { scene } = this;
    const processes = this.#workers.all;
    this.#workers.leave();
    const end = scene.clock.now() + longestLeave;
    await scene.quiet();
    while (!processes.every(({ isGone }) => isGone) && scene.clock.step(end)) await scene.quiet();
    for (const process of processes) {
      if (!process.isGone)
        throw new Violation(`${process.name} does not leave: ${process.remains.join(", ")}`);
      if (process.remains.length > 0)
        throw new Violation(`${process.name} left ${process.remains.join(", ")}`);
    }
    const { running } = await this.#people.count();
    if (running > 0) throw new Violation(`${running} keys are leased, and nobody is there`);
    this.#change(0, false);
    const assigned = scene.assigned.size;
    for (const producer of this.#producers) if (producer.busy) await producer.deliver("change", "none");
    if (scene.assigned.size > assigned) throw new Violation("A key was assigned to a worker that has left");
    scene.say("all have left");
  }

  #change(key: number, recreate: boolean): void {
    const name = this.scene.truth.names[key];
    if (name === undefined) return;
    this.scene.say(`${name} changes${recreate ? ", made anew" : ""}`);
    this.scene.truth.change(name, recreate);
    this.#producers[this.#changes++ % producers]?.hear(name);
  }

  /** As one stream tells of a kind, all parts of a key are told of by one producer, in their order. */
  #changePart(key: number, part: number): void {
    const { truth } = this.scene;
    const name = truth.names[key];
    if (name === undefined || truth.of(name).version === 0) return;
    const version = truth.changePart(name, part);
    this.scene.say(`part ${part} of ${name} is at ${version}`);
    this.#producers[key % producers]?.hearPart({ key: name, part, version });
  }

  async #advance(ms: number): Promise<void> {
    const { clock } = this.scene;
    const end = clock.now() + ms;
    await this.scene.quiet();
    while (clock.step(end)) {
      await this.scene.quiet();
      await this.#workers.check();
      this.#workers.replaceDead();
    }
  }

  async #loseServer(how: "restart" | "fail over" | "flush"): Promise<void> {
    const { scene } = this;
    scene.say(`redis: ${how}`);
    scene.truth.dataLost();
    if (how !== "flush") scene.server = `server ${++this.#servers}`;
    if (how !== "restart") await this.#snapshot.restore(how === "flush");
  }

  async #hold(scope: number, on: boolean): Promise<void> {
    const { truth, jobs } = this.scene;
    const what = truth.scopes[scope];
    if (!what) return;
    this.scene.say(`${on ? "pause" : "resume"} ${JSON.stringify(what)}`);
    if (!on) truth.paused(scope, false); // what was held back may be assigned in the same instant
    jobs.add(await (on ? this.#people.pause(what, "simulation") : this.#people.resume(what)));
    if (on) truth.paused(scope, true);
  }

  async #force(key: number): Promise<void> {
    const { truth, jobs } = this.scene;
    const name = truth.names[key];
    if (name === undefined || truth.of(name).version === 0) return;
    this.scene.say(`force ${name}`);
    truth.heard(name);
    truth.forgetFailures(name);
    const wake = {
      key: name,
      kind: "force",
      resourceVersion: "0",
      reason: "Forced",
      class: "change",
    } as const;
    jobs.add(await this.#people.wake([wake], true));
  }
}
