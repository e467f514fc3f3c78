import type { ObjectKey } from "@drover/controller";
import type { RedisLedger } from "../../packages/queue/src/ledger/redis-ledger.ts";
import type { QueueTime, Wake, WakeClass } from "../../packages/queue/src/work-queue/work-queue.ts";
import type { Fault } from "./schedule.ts";
import { call, Died, shown, type SharedState } from "./shared-state.ts";
import type { Version } from "./oracle.ts";

/** A version of a key's object, by a watch or by a listing. */
interface Seen extends Version {
  readonly newestAfter?: QueueTime;
  /** The object was created at that version. */
  readonly created?: true;
}

/** A version of a part of a key's object. */
interface SeenPart {
  readonly key: ObjectKey;
  readonly part: number;
  readonly version: number;
}

/**
 * A bridge, reduced to its wakes: it wakes keys for changes, sends a wake again until it is answered, continues after a
 * crash where it was, and lists everything when Redis may have lost what it acknowledged.
 */
export class SimulatedProducer {
  readonly #shared: SharedState;
  readonly #name: string;
  readonly ledger: RedisLedger;
  /** Versions whose wakes are not answered yet; the objects may have newer ones. */
  #seen = new Map<ObjectKey, Seen>();
  #parts: readonly SeenPart[] = [];
  /** Changes that it sees after this list were made after it. */
  #listedAt: QueueTime | undefined;
  #relist = false;

  constructor(shared: SharedState, name: string) {
    this.#shared = shared;
    this.#name = name;
    this.ledger = shared.open(() => {
      this.#relist = true;
    });
  }

  get busy(): boolean {
    return this.#seen.size + this.#parts.length > 0 || this.#relist;
  }

  /** As its dispatcher does every so often: it is notified of a new incarnation. */
  async beat(): Promise<void> {
    await this.ledger.renew([]);
  }

  see(key: ObjectKey): void {
    const { version, uid, createdAt } = this.#shared.oracle.of(key);
    this.#seen.set(key, {
      version,
      uid,
      ...(createdAt === version && { created: true }),
      ...(this.#listedAt && { newestAfter: this.#listedAt }),
    });
  }

  seePart(seen: SeenPart): void {
    this.#parts = [...this.#parts, seen];
  }

  /**
   * Lists all objects, which may change until their wakes are sent. In a server's recovery window it would have
   * waited.
   */
  async list(): Promise<void> {
    const { oracle } = this.#shared;
    const { recoveryLeft, ...newestAfter } = await this.ledger.time();
    this.#shared.log(`${this.#name} lists`);
    if (recoveryLeft === 0) this.#listedAt = newestAfter;
    for (const name of oracle.names) {
      const { version, uid } = oracle.of(name);
      if (version > 0) this.#seen.set(name, { version, uid, ...(recoveryLeft === 0 && { newestAfter }) });
    }
    this.#parts = oracle.names.flatMap((key) =>
      oracle.of(key).parts.flatMap(({ version }, part) => (version > 0 ? [{ key, part, version }] : [])),
    );
  }

  async deliver(wakeClass: WakeClass, fault: Fault): Promise<void> {
    if (this.#relist) {
      this.#relist = false;
      await this.list();
      await this.#wake("listing", fault);
    } else {
      // A resync never stands for a change: it comes on top.
      await this.#wake(wakeClass === "resync" ? "change" : wakeClass, fault);
      if (wakeClass === "resync") await this.#resync(fault);
    }
  }

  async #resync(fault: Fault): Promise<void> {
    const { oracle } = this.#shared;
    const key = oracle.names[0];
    if (key !== undefined && oracle.of(key).version > 0)
      await this.#wakeFor(new Map([[key, oracle.of(key)]]), "resync", fault);
  }

  async #wake(wakeClass: WakeClass, fault: Fault): Promise<void> {
    if (this.#seen.size > 0 && (await this.#wakeFor(this.#seen, wakeClass, fault))) this.#seen = new Map();
    if (this.#parts.length > 0) await this.#wakeForParts(wakeClass, fault);
  }

  /** True if it was answered. */
  async #wakeFor(seen: ReadonlyMap<ObjectKey, Seen>, wakeClass: WakeClass, fault: Fault): Promise<boolean> {
    const { oracle } = this.#shared;
    this.#shared.log(
      `${this.#name} wakes ${[...seen.keys()].join(", ")} (${wakeClass})${fault === "none" ? "" : `, ${fault}`}`,
    );
    const wakes = [...seen].map(([key, { version, uid, newestAfter, created }]): Wake => {
      oracle.wakeSent(key);
      if (uid > 0) oracle.forgetFailures(key);
      return {
        key,
        kind: "things",
        resourceVersion: String(version),
        uid: `u${uid}`,
        reason: "Heard",
        class: wakeClass,
        cachedObject: String(version),
        ...(newestAfter && { newestAfter }),
        ...(created && { created }),
      };
    });
    if (!(await this.#send(wakes, fault))) return false;
    if (wakeClass !== "resync") for (const [key, { version }] of seen) oracle.acknowledged(key, version);
    return true;
  }

  /** A change that cannot be expressed is sent without a delta. Some wait for further ones. */
  async #wakeForParts(wakeClass: WakeClass, fault: Fault): Promise<void> {
    const { oracle } = this.#shared;
    const seen = this.#parts;
    this.#shared.log(`${this.#name} wakes for parts ${JSON.stringify(seen)} (${wakeClass}), ${fault}`);
    const wakes = seen.map(({ key, part, version }): Wake => {
      oracle.wakeSent(key);
      const news = version % 5 === 0 ? "" : JSON.stringify({ part, version });
      return {
        key,
        kind: "parts",
        resourceVersion: String(version),
        reason: "Heard",
        class: wakeClass,
        delta: news,
        ...(version % 3 === 0 && { after: 500 }),
      };
    });
    if (!(await this.#send(wakes, fault))) return;
    this.#parts = this.#parts.slice(seen.length);
    for (const { key, part, version } of seen) oracle.acknowledgedPart(key, part, version);
  }

  /** True if it was answered. */
  async #send(wakes: readonly Wake[], fault: Fault): Promise<boolean> {
    try {
      const jobs = await call(fault, () => this.ledger.wake(wakes));
      if (jobs === "unanswered") return false;
      this.#shared.log(`${this.#name} adds ${shown(jobs)}`);
      this.#shared.jobs.add(jobs);
      return true;
    } catch (error) {
      if (error instanceof Died) return false;
      throw error;
    }
  }
}
