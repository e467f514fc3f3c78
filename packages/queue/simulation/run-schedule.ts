import type { RedisConnection } from "../src/redis-connection.ts";
import type { RedisLedger, RedisLedgerOptions } from "../src/redis-ledger.ts";
import { type Snapshot, snapshotOf } from "./server-data.ts";
import type { Post } from "./post.ts";
import {
  type Command,
  type Disturbance,
  producers,
  type Fault,
  type Schedule,
  type Terms,
  times,
  workers,
} from "./schedule.ts";
import { SimulatedProducer } from "./simulated-producer.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { type Surroundings, surroundings } from "./surroundings.ts";
import { Violation } from "./truth.ts";

/** A schedule's violation, with everything that led to it. */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
  readonly trace: readonly string[];
  constructor(cause: unknown, trace: readonly string[]) {
    super(`${cause instanceof Error ? cause.message : String(cause)}\n${trace.join("\n")}`, { cause });
    this.trace = trace;
  }
}

/** Turns after which a queue that has nothing wrong with it must have come to rest. */
const mostTurns = 1_000;
/** Offers stand again after that time, also of a process that still waits for an answer which is late, ms. */
const longestRecovery = 1_000;
/** How long a process may take to leave whose runs end at once, ms. */
const longestLeave = 5_000;
/** Clocks of processes differ by that much, ms: each began at another time. */
const clockSkew = 90_000;
/** What a process is that nobody has said anything of. */
const usual: Terms = { slots: 1, version: 0 };

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
  /** A process each, of which the last one has not been told to leave; none where that has no slots. */
  readonly #workers: SimulatedProcess[][] = Array.from({ length: workers }, () => []);
  readonly #producers: readonly SimulatedProducer[];
  readonly #people: RedisLedger;
  readonly #snapshot: Snapshot;
  #servers = 0;
  #changes = 0;
  #lives = 0;
  /** A version that may still be believed to be here, though its process is gone. */
  #hasOthers = false;
  /** Nobody takes the place of who is gone. */
  #isOver = false;

  constructor(scene: Surroundings) {
    this.scene = scene;
    this.#producers = Array.from({ length: producers }, (_, i) => new SimulatedProducer(scene, `p${i}`));
    this.#people = scene.open(() => undefined);
    this.#snapshot = snapshotOf(scene.redis, scene);
  }

  async begin(): Promise<void> {
    for (const [i] of this.#workers.entries()) this.#start(i, usual);
    for (const producer of this.#producers) await producer.beat();
    await this.#advance(times.settling);
  }

  async step(command: Command): Promise<void> {
    await this.#perform(command);
    await this.scene.quiet();
    this.#check();
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
        return this.#meeting(command, (process) => process.takeBell());
      case "hear":
        return this.#meeting(command, (process) => {
          process.hearLetters();
        });
      case "finish":
        return this.#meeting(command, (process) => process.finish(command.verdict));
      case "trouble":
      case "freeze":
      case "thaw":
      case "cut":
      case "mend":
      case "kill":
      case "late offer":
        return this.#disturb(command);
      case "advance":
        return this.#advance(command.ms);
      case "step clock":
        scene.say(`the server's clock steps by ${command.ms} ms`);
        scene.ahead += command.ms;
        scene.hurried += Math.max(0, command.ms);
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
      case "enlist": {
        this.#rollOut(command.worker, command.terms);
        return;
      }
    }
  }

  #loseOrDouble(what: "lose letters" | "lose bells" | "double bells"): void {
    const { bells, letters } = this.scene;
    this.scene.say(what);
    if (what === "lose letters") letters.clear();
    else if (what === "lose bells") bells.lose();
    else bells.double();
  }

  forget(): Promise<void> {
    for (const each of this.#workers.flat()) each.die();
    return this.#snapshot.forget();
  }

  /** Faults end: everything that was begun ends, and the queue must come to rest with every change seen. */
  async heal(): Promise<void> {
    const { scene } = this;
    scene.say("-- from here on nothing goes wrong --");
    for (const scope of scene.truth.scopes.keys()) await this.#hold(scope, false);
    for (const process of this.#workers.flat()) {
      process.fault = "none";
      process.mend();
      process.thaw();
    }
    // Otherwise those that were there all the time show whether they are as they were.
    const here = this.#workers.map((processes): Terms => {
      const last = processes.at(-1);
      return last === undefined || last.isLeaving ? { ...usual, slots: 0 } : last.terms;
    });
    const isUsual = !this.#hasOthers && here.every(({ slots, runs }) => slots > 0 && !runs);
    if (!isUsual) for (const [i] of this.#workers.entries()) this.#rollOut(i, { slots: 1, version: 3 });
    await scene.quiet(); // what was known when a key was given is known only if one call is made at a time
    await this.#comeToRest();
    const { keys: parked } = await this.#people.list("parked", 100);
    scene.truth.converged(new Set(parked.map(({ key }) => key)));
    await this.#isPrompt();
    await this.#allLeave();
  }

  async #comeToRest(): Promise<void> {
    const { scene } = this;
    for (let turn = 0; turn < mostTurns; turn++) {
      for (const producer of this.#producers) {
        await producer.beat();
        if (producer.busy) await producer.deliver("change", "none");
      }
      await this.#work();
      if (await this.#rests()) return;
      if (scene.bells.size === 0 && scene.letters.size === 0) await this.#advance(scene.clock.next ?? 1);
    }
    throw new Violation(`The queue does not come to rest: ${JSON.stringify(await this.#people.count())}`);
  }

  /** Everything that is on its way arrives, and runs end as they should. */
  async #work(): Promise<void> {
    const processes = this.#workers.flat();
    for (const process of processes) {
      process.hearLetters();
      process.takeBell();
      await this.scene.quiet();
      while (process.finish({ kind: "done" })) await this.scene.quiet();
    }
    this.#check();
    this.scene.letters.clear(); // of those that are gone
  }

  async #rests(): Promise<boolean> {
    if (this.#producers.some((each) => each.busy)) return false;
    const isBusy = ({ running, answering }: SimulatedProcess): boolean => running.length + answering > 0;
    if (this.#workers.flat().some(isBusy)) return false;
    const { due, scheduled, running } = await this.#people.count();
    return due + scheduled + running === 0;
  }

  /** A queue at rest gives a change to a free slot at once: no time passes, and no bell is needed. */
  async #isPrompt(): Promise<void> {
    await this.#advance(longestRecovery);
    const { scene } = this;
    const slots = this.#workers.map((processes) => processes.at(-1)?.terms.slots ?? 0);
    const free = slots.reduce((sum, one) => sum + one, 0);
    for (const [key] of scene.truth.names.entries()) this.#change(key, false);
    for (const producer of this.#producers) if (producer.busy) await producer.deliver("change", "none");
    do {
      for (const process of this.#workers.flat()) process.hearLetters();
      await scene.quiet(); // what is given back goes to another
    } while (scene.letters.size > 0);
    const begun = this.#workers.flat().flatMap(({ running }) => running).length;
    const changed = scene.truth.names.length;
    if (begun !== Math.min(free, changed))
      throw new Violation(`${changed} changes found ${free} free slots, and ${begun} runs began at once`);
    await this.#comeToRest();
  }

  /** Whoever leaves a queue at rest leaves nothing behind. */
  async #allLeave(): Promise<void> {
    const { scene } = this;
    const processes = this.#workers.flat();
    this.#isOver = true;
    for (const process of processes) process.drain(0);
    const end = scene.clock.now + longestLeave;
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
    for (const producer of this.#producers) if (producer.busy) await producer.deliver("change", "none");
    if (scene.letters.size > 0) throw new Violation("A key was given to a worker that has left");
    scene.say("all have left");
  }

  /** Nothing is wrong with a process, and of all runs of a key one at most believes that it holds the lease. */
  #check(): void {
    for (const process of this.#workers.flat()) {
      const { name, problem } = process;
      if (problem !== undefined) throw new Violation(`${name} ${problem}`);
    }
    const holders = new Map<string, string>();
    for (const process of this.#workers.flat())
      for (const { run } of process.running) {
        if (!run.held()) continue;
        const other = holders.get(run.key);
        if (other !== undefined) throw new Violation(`${other} and ${process.name} both hold ${run.key}`);
        holders.set(run.key, process.name);
      }
  }

  #start(i: number, terms: Terms): void {
    if (terms.slots === 0) return;
    const life = ++this.#lives;
    const process = new SimulatedProcess(this.scene, `w${i}.${life}`, life * clockSkew, terms);
    this.#workers[i] = [...(this.#workers[i] ?? []).filter(({ isGone }) => !isGone), process];
  }

  /** Another process takes the place of the one that is there, which ends what it runs. */
  #rollOut(i: number, terms: Terms): void {
    this.scene.say(`w${i} is ${JSON.stringify(terms)}`);
    this.#hasOthers ||= terms.version !== usual.version;
    this.#workers[i]?.at(-1)?.drain(times.settling);
    this.#start(i, terms);
  }

  /** What a process does next meets a fault, if it does anything; one that dies is replaced by another. */
  async #meeting(
    { worker, fault }: { readonly worker: number; readonly fault: Fault },
    act: (process: SimulatedProcess) => unknown,
  ): Promise<void> {
    const { scene } = this;
    for (const process of this.#workers[worker] ?? []) {
      process.fault = fault;
      act(process);
      await scene.quiet();
      process.fault = "none";
    }
    this.#replaceDead();
  }

  /** The dead are replaced by others of the same kind. */
  #replaceDead(): void {
    if (this.#isOver) return;
    for (const [i, processes] of this.#workers.entries())
      if (processes.length > 0 && processes.every(({ isGone }) => isGone)) this.#start(i, usual);
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

  async #disturb(command: Disturbance): Promise<void> {
    const process = this.#workers[command.worker]?.at(-1);
    if (!process) return;
    this.scene.say(`${command.do} ${process.name}`);
    if (command.do === "kill") process.die();
    else if (command.do === "thaw") process.thaw();
    else if (command.do === "cut") process.cut();
    else if (command.do === "mend") process.mend();
    else if (command.do === "late offer") await process.lateOffer();
    else if (command.do === "trouble") process.fault = command.fault;
    else process.frozen = true;
    this.#replaceDead();
  }

  async #advance(ms: number): Promise<void> {
    const { clock } = this.scene;
    const end = clock.now + ms;
    await this.scene.quiet();
    while (clock.step(end)) {
      await this.scene.quiet();
      this.#check();
      this.#replaceDead();
    }
    clock.now = end;
  }

  async #loseServer(how: "restart" | "fail over" | "flush"): Promise<void> {
    const { scene } = this;
    scene.say(`redis: ${how}`);
    scene.truth.dataLost();
    if (how !== "flush") scene.server = `server ${++this.#servers}`;
    if (how !== "restart") await this.#snapshot.restore(how === "flush");
  }

  async #hold(scope: number, on: boolean): Promise<void> {
    const { truth, bells } = this.scene;
    const what = truth.scopes[scope];
    if (!what) return;
    this.scene.say(`${on ? "pause" : "resume"} ${JSON.stringify(what)}`);
    if (!on) truth.paused(scope, false); // what was held back may be given in the same instant
    bells.add(await (on ? this.#people.pause(what, "simulation") : this.#people.resume(what)));
    if (on) truth.paused(scope, true);
  }

  async #force(key: number): Promise<void> {
    const { truth, bells } = this.scene;
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
    bells.add(await this.#people.wake([wake], true));
  }
}
