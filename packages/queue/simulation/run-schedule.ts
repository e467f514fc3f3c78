import type { RedisConnection } from "../src/redis-connection.ts";
import type { RedisLedger, RedisLedgerOptions } from "../src/redis-ledger.ts";
import { fastForward, type Snapshot, snapshotOf } from "./server-data.ts";
import type { Post } from "./post.ts";
import { type Command, producers, type Schedule, times, workers } from "./schedule.ts";
import { SimulatedProducer } from "./simulated-producer.ts";
import { SimulatedWorker } from "./simulated-worker.ts";
import { call, Died, shown, type Surroundings, surroundings } from "./surroundings.ts";
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

/** A bell unanswered for this long is lost, ms; as the ringer's, in the simulation's times. */
const patience = 200;
/** Turns after which a queue that has nothing wrong with it must have come to rest. */
const mostTurns = 300;

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
  readonly #workers: readonly SimulatedWorker[];
  readonly #producers: readonly SimulatedProducer[];
  readonly #ringer: RedisLedger;
  readonly #snapshot: Snapshot;
  #servers = 0;
  #changes = 0;

  constructor(scene: Surroundings) {
    this.scene = scene;
    this.#workers = Array.from({ length: workers }, (_, i) => new SimulatedWorker(scene, `w${i}`));
    this.#producers = Array.from({ length: producers }, (_, i) => new SimulatedProducer(scene, `p${i}`));
    this.#ringer = scene.open(() => undefined);
    this.#snapshot = snapshotOf(scene.redis, scene);
  }

  async begin(): Promise<void> {
    for (const worker of this.#workers) await worker.enlist({ slots: 1, version: 0 });
    for (const producer of this.#producers) await producer.beat();
    await this.#advance(times.settling);
  }

  async step(command: Command): Promise<void> {
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
        return this.#workers[command.worker]?.take(command.fault);
      case "offer":
        return this.#workers[command.worker]?.offer(command.fault);
      case "lose letters":
        scene.say("what workers were told is lost");
        scene.letters.clear();
        return;
      case "finish":
        return this.#workers[command.worker]?.finish(command.verdict, command.fault);
      case "freeze":
      case "thaw":
      case "kill":
      case "late offer":
        return this.#disturb(command.do, command.worker);
      case "ring":
        await this.#ring(command.fault);
        return;
      case "advance":
        return this.#advance(command.ms);
      case "step clock":
        scene.say(`the server's clock steps by ${command.ms} ms`);
        scene.ahead += command.ms;
        scene.hurried += Math.max(0, command.ms);
        return;
      case "lose bells":
        scene.say("half of the bells are lost");
        scene.bells.lose();
        return;
      case "double bells":
        scene.bells.double();
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
        return this.#workers[command.worker]?.enlist(command.terms);
    }
  }

  forget(): Promise<void> {
    return this.#snapshot.forget();
  }

  /** Faults end: everything that was begun ends, and the queue must come to rest with every change seen. */
  async heal(): Promise<void> {
    this.scene.say("-- from here on nothing goes wrong --");
    for (const scope of this.scene.truth.scopes.keys()) await this.#hold(scope, false);
    for (const worker of this.#workers) await worker.thaw();
    for (let turn = 0; turn < mostTurns; turn++) {
      for (const producer of this.#producers) {
        await producer.beat();
        if (producer.busy) await producer.deliver("change", "none");
      }
      for (const worker of this.#workers) {
        if (turn === 0) await worker.enlist({ slots: 1, version: 3 });
        await worker.offer("none");
        await worker.take("none");
        await worker.finish({ kind: "done" }, "none");
      }
      const next = await this.#ring("none");
      if (await this.#rests()) {
        const { keys: parked } = await this.#ringer.list("parked", 100);
        this.scene.truth.converged(new Set(parked.map(({ key }) => key)));
        return;
      }
      if (this.scene.bells.size === 0) await this.#advance(fastForward(next, patience));
    }
    throw new Violation(`The queue does not come to rest: ${JSON.stringify(await this.#ringer.count())}`);
  }

  async #rests(): Promise<boolean> {
    if (this.#producers.some((each) => each.busy) || this.#workers.some((each) => each.busy)) return false;
    const { due, scheduled, running } = await this.#ringer.count();
    return due + scheduled + running === 0;
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

  async #disturb(what: "freeze" | "thaw" | "kill" | "late offer", index: number): Promise<void> {
    const worker = this.#workers[index];
    if (!worker) return;
    this.scene.say(`${what} w${index}`);
    if (what === "kill") worker.die();
    else if (what === "thaw") await worker.thaw();
    else if (what === "late offer") await worker.lateOffer();
    else worker.frozen = true;
  }

  /** What a ringer does; answers in how many ms something may be due. */
  async #ring(fault: "none" | "dies before" | "dies after" | "answer lost"): Promise<number | undefined> {
    const { bells } = this.scene;
    try {
      const lost = (await this.#ringer.unanswered(patience)).filter((bell) => !bells.waits(bell));
      for (const bell of lost) await call(fault, () => this.#ringer.ringAgain(bell));
      const answer = await call(fault, () => this.#ringer.ring());
      if (answer === "unheard") return undefined;
      this.scene.say(`ringer adds ${shown(answer.bells)}`);
      bells.add(answer.bells);
      return answer.next;
    } catch (error) {
      if (error instanceof Died) return undefined;
      throw error;
    }
  }

  async #advance(ms: number): Promise<void> {
    const beats = this.#workers.some((worker) => worker.busy) ? times.renewal : ms;
    for (let left = ms; left > 0; left -= beats) {
      this.scene.local += Math.min(left, beats);
      for (const worker of this.#workers) await worker.beat();
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
    const { truth, bells } = this.scene;
    const what = truth.scopes[scope];
    if (!what) return;
    this.scene.say(`${on ? "pause" : "resume"} ${JSON.stringify(what)}`);
    if (!on) truth.paused(scope, false); // what was held back may be given in the same instant
    bells.add(await (on ? this.#ringer.pause(what, "simulation") : this.#ringer.resume(what)));
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
    bells.add(await this.#ringer.wake([wake], true));
  }
}
