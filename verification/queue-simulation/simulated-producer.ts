import type { ObjectKey } from "@drover/controller";
import type { RedisLedger } from "../../packages/queue/src/ledger/redis-ledger.ts";
import type { QueueTime, Wake, WakeClass } from "../../packages/queue/src/work-queue/work-queue.ts";
import type { Fault } from "./schedule.ts";
import { call, Died, shown, type Surroundings } from "./shared-state.ts";
import type { Version } from "./oracle.ts";

/** A version of a key's object, by a watch or by a listing. */
interface Heard extends Version {
  readonly newestAfter?: QueueTime;
}

/** A version of a part of a key's object. */
interface HeardPart {
  readonly key: ObjectKey;
  readonly part: number;
  readonly version: number;
}

/**
 * What a bridge does: it wakes keys for what it heard of, tells again what was not answered, starts again from where it
 * was when it died, and looks at everything when Redis may have lost what it acknowledged.
 */
export class SimulatedProducer {
  readonly #scene: Surroundings;
  readonly #name: string;
  readonly ledger: RedisLedger;
  /** What it has not told yet: by now there may be more. */
  #heard = new Map<ObjectKey, Heard>();
  #parts: readonly HeardPart[] = [];
  /** What it hears of as it happens was made after that. */
  #listedAt: QueueTime | undefined;
  #relist = false;

  constructor(scene: Surroundings, name: string) {
    this.#scene = scene;
    this.#name = name;
    this.ledger = scene.open(() => {
      this.#relist = true;
    });
  }

  get busy(): boolean {
    return this.#heard.size + this.#parts.length > 0 || this.#relist;
  }

  /** As its dispatcher does every so often: it is notified of a new incarnation. */
  async beat(): Promise<void> {
    await this.ledger.renew([]);
  }

  hear(key: ObjectKey): void {
    const { version, uid } = this.#scene.truth.of(key);
    this.#heard.set(key, { version, uid, ...(this.#listedAt && { newestAfter: this.#listedAt }) });
  }

  hearPart(heard: HeardPart): void {
    this.#parts = [...this.#parts, heard];
  }

  /**
   * Everything there is, where it may be later until it tells of it. In a server's recovery window it would have
   * waited.
   */
  async list(): Promise<void> {
    const { truth } = this.#scene;
    const { recoveryLeft, ...newestAfter } = await this.ledger.time();
    this.#scene.say(`${this.#name} lists`);
    if (recoveryLeft === 0) this.#listedAt = newestAfter;
    for (const name of truth.names) {
      const { version, uid } = truth.of(name);
      if (version > 0) this.#heard.set(name, { version, uid, ...(recoveryLeft === 0 && { newestAfter }) });
    }
    this.#parts = truth.names.flatMap((key) =>
      truth.of(key).parts.flatMap(({ version }, part) => (version > 0 ? [{ key, part, version }] : [])),
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
    const { truth } = this.#scene;
    const key = truth.names[0];
    if (key !== undefined && truth.of(key).version > 0)
      await this.#tell(new Map([[key, truth.of(key)]]), "resync", fault);
  }

  async #wake(wakeClass: WakeClass, fault: Fault): Promise<void> {
    if (this.#heard.size > 0 && (await this.#tell(this.#heard, wakeClass, fault))) this.#heard = new Map();
    if (this.#parts.length > 0) await this.#tellParts(wakeClass, fault);
  }

  /** Whether it was answered. */
  async #tell(heard: ReadonlyMap<ObjectKey, Heard>, wakeClass: WakeClass, fault: Fault): Promise<boolean> {
    const { truth } = this.#scene;
    this.#scene.say(
      `${this.#name} wakes ${[...heard.keys()].join(", ")} (${wakeClass})${fault === "none" ? "" : `, ${fault}`}`,
    );
    const wakes = [...heard].map(([key, { version, uid, newestAfter }]): Wake => {
      truth.heard(key);
      if (uid > 0) truth.forgetFailures(key);
      return {
        key,
        kind: "things",
        resourceVersion: String(version),
        uid: `u${uid}`,
        reason: "Heard",
        class: wakeClass,
        cachedObject: String(version),
        ...(newestAfter && { newestAfter }),
      };
    });
    if (!(await this.#send(wakes, fault))) return false;
    if (wakeClass !== "resync") for (const [key, { version }] of heard) truth.told(key, version);
    return true;
  }

  /** A change that cannot be expressed is sent without a delta. */
  async #tellParts(wakeClass: WakeClass, fault: Fault): Promise<void> {
    const { truth } = this.#scene;
    const heard = this.#parts;
    this.#scene.say(`${this.#name} tells of parts ${JSON.stringify(heard)} (${wakeClass}), ${fault}`);
    const wakes = heard.map(({ key, part, version }): Wake => {
      truth.heard(key);
      const news = version % 5 === 0 ? "" : JSON.stringify({ part, version });
      return {
        key,
        kind: "parts",
        resourceVersion: String(version),
        reason: "Heard",
        class: wakeClass,
        delta: news,
      };
    });
    if (!(await this.#send(wakes, fault))) return;
    this.#parts = this.#parts.slice(heard.length);
    for (const { key, part, version } of heard) truth.toldPart(key, part, version);
  }

  /** Whether it was answered. */
  async #send(wakes: readonly Wake[], fault: Fault): Promise<boolean> {
    try {
      const jobs = await call(fault, () => this.ledger.wake(wakes));
      if (jobs === "unheard") return false;
      this.#scene.say(`${this.#name} adds ${shown(jobs)}`);
      this.#scene.jobs.add(jobs);
      return true;
    } catch (error) {
      if (error instanceof Died) return false;
      throw error;
    }
  }
}
