import { type Disturbance, type Fault, type Terms, times, workers } from "./schedule.ts";
import type { Run } from "../../packages/queue/src/work-queue/work-queue.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import type { SharedState } from "./shared-state.ts";
import { type ObservedRun, Violation } from "./oracle.ts";

/** Clocks of processes differ by that much, ms: each began at another time. */
const clockSkew = 90_000;
/** How a worker is started unless the schedule says otherwise. */
const usual: Terms = { slots: 1, version: 0 };

/** The worker processes of a schedule: which process takes the place of which, and what must hold of all of them. */
export class SimulatedWorkers {
  readonly #shared: SharedState;
  /** The processes of each worker; all but the last one are leaving. None where it has no slots. */
  readonly #workers: SimulatedProcess[][] = Array.from({ length: workers }, () => []);
  #lives = 0;
  /** A version that may still be believed to be here, though its process is gone. */
  #hasOthers = false;
  /** From now on a process that is gone is not replaced. */
  #areLeaving = false;

  constructor(shared: SharedState) {
    this.#shared = shared;
  }

  get all(): readonly SimulatedProcess[] {
    return this.#workers.flat();
  }

  /** The slots of the processes that are not leaving. */
  get slots(): number {
    const slots = this.#workers.map((processes) => processes.at(-1)?.terms.slots ?? 0);
    return slots.reduce((sum, one) => sum + one, 0);
  }

  /** A process that takes keys, and does not receive the keys that it is assigned. */
  get notListening(): string | undefined {
    return this.all.find(({ isLeaving, listens }) => !isLeaving && !listens)?.name;
  }

  begin(): void {
    for (const [i] of this.#workers.entries()) this.#start(i, usual);
  }

  /** Faults end. Those that were there all the time stay, and show whether they are as they were; otherwise all are replaced. */
  heal(): void {
    for (const process of this.all) {
      process.fault = "none";
      process.mend();
      process.thaw();
    }
    const here = this.#workers.map((processes): Terms => {
      const last = processes.at(-1);
      return last === undefined || last.isLeaving ? { ...usual, slots: 0 } : last.terms;
    });
    const isUsual = !this.#hasOthers && here.every(({ slots, runs }) => slots > 0 && !runs);
    if (!isUsual) for (const [i] of this.#workers.entries()) this.rollOut(i, { slots: 1, version: 3 });
  }

  /** All leave, and none is replaced. */
  leave(): void {
    this.#areLeaving = true;
    for (const process of this.all) process.drain(0);
  }

  /**
   * Nothing is wrong with a process, of all runs of a key one at most believes that it holds the lease, and what it believes
   * is what Redis has.
   */
  async check(): Promise<void> {
    for (const process of this.all) {
      const { name, problem } = process;
      if (problem !== undefined) throw new Violation(`${name} ${problem}`);
    }
    const holders = new Map<string, string>();
    const held = this.all.flatMap(({ name, running }) =>
      running.filter(({ run }) => run.hasLease()).map(({ run, of }) => ({ name, run, of })),
    );
    for (const { name, run } of held) {
      const other = holders.get(run.key);
      if (other !== undefined) throw new Violation(`${other} and ${name} both hold ${run.key}`);
      holders.set(run.key, name);
    }
    await Promise.all(held.map((each) => this.#isLeased(each)));
  }

  /** By the data of Redis, unless those were lost. A clock that was set forward ends a lease by as much too early. */
  async #isLeased({ name, run, of }: { name: string; run: Run; of: ObservedRun }): Promise<void> {
    const { redis, prefix, local, ahead, hurried, oracle } = this.#shared;
    if (of.known.losses !== oracle.losses) return;
    const [token, until] = await redis.hmget(`${prefix}:key:${run.key}`, "token", "until");
    const left = Number(until) + hurried - (local + ahead);
    if (token !== run.token || left <= 0)
      throw new Violation(
        `${name} believes that it holds ${run.key}: the lease is of ${token ?? "no run"} and has ${left} ms left`,
      );
  }

  #start(i: number, terms: Terms): void {
    if (terms.slots === 0) return;
    const life = ++this.#lives;
    const process = new SimulatedProcess(this.#shared, `w${i}.${life}`, life * clockSkew, terms);
    this.#workers[i] = [...(this.#workers[i] ?? []).filter(({ isGone }) => !isGone), process];
  }

  /** Another process takes the place of the one that is there, which ends what it runs. */
  rollOut(i: number, terms: Terms): void {
    this.#shared.log(`w${i} is ${JSON.stringify(terms)}`);
    this.#hasOthers ||= terms.version !== usual.version;
    this.#workers[i]?.at(-1)?.drain(times.recoveryWindow);
    this.#start(i, terms);
  }

  /** The next call of a process gets a fault; one that dies is replaced by another. */
  async meeting(
    { worker, fault }: { readonly worker: number; readonly fault: Fault },
    act: (process: SimulatedProcess) => unknown,
  ): Promise<void> {
    const shared = this.#shared;
    for (const process of this.#workers[worker] ?? []) {
      process.fault = fault;
      act(process);
      await shared.quiet();
      process.fault = "none";
    }
    this.replaceDead();
  }

  /** The dead are replaced by others of the same kind. */
  replaceDead(): void {
    if (this.#areLeaving) return;
    for (const [i, processes] of this.#workers.entries())
      if (processes.length > 0 && processes.every(({ isGone }) => isGone)) this.#start(i, usual);
  }

  async disturb(command: Disturbance): Promise<void> {
    const process = this.#workers[command.worker]?.at(-1);
    if (!process) return;
    this.#shared.log(`${command.do} ${process.name}`);
    if (command.do === "kill") process.die();
    else if (command.do === "thaw") process.thaw();
    else if (command.do === "cut") process.cut();
    else if (command.do === "deny") process.denied = true;
    else if (command.do === "mend") process.mend();
    else if (command.do === "disconnect") process.disconnect(command.how);
    else if (command.do === "late advertisement") await process.lateAdvertisement();
    else if (command.do === "trouble") process.fault = command.fault;
    else process.frozen = true;
    this.replaceDead();
  }
}
