import type { ObjectKey } from "@drover/controller";
import type { RedisLedger } from "../src/redis-ledger.ts";
import type { QueueMoment, Wake, WakeClass } from "../src/work-queue.ts";
import type { Fault } from "./schedule.ts";
import { call, Died, shown, type Surroundings } from "./surroundings.ts";
import type { Version } from "./truth.ts";

/** A version of a key's object, by a watch or by a listing. */
interface Heard extends Version {
  readonly listedAfter?: QueueMoment;
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
  #relist = false;

  constructor(scene: Surroundings, name: string) {
    this.#scene = scene;
    this.#name = name;
    this.ledger = scene.open(() => {
      this.#relist = true;
    });
  }

  get busy(): boolean {
    return this.#heard.size > 0 || this.#relist;
  }

  /** What its ringer does every so often: it hears of a new era. */
  async beat(): Promise<void> {
    await this.ledger.renew([]);
  }

  hear(key: ObjectKey): void {
    const { version, uid } = this.#scene.truth.of(key);
    this.#heard.set(key, { version, uid });
  }

  /** Everything there is, where it may be later until it tells of it. On a server that settles it would have waited. */
  async list(): Promise<void> {
    const { truth } = this.#scene;
    const { settlesIn, ...listedAfter } = await this.ledger.moment();
    this.#scene.say(`${this.#name} lists`);
    for (const name of truth.names) {
      const { version, uid } = truth.of(name);
      if (version > 0) this.#heard.set(name, { version, uid, ...(settlesIn === 0 && { listedAfter }) });
    }
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
  }

  /** Whether it was answered. */
  async #tell(heard: ReadonlyMap<ObjectKey, Heard>, wakeClass: WakeClass, fault: Fault): Promise<boolean> {
    const { truth, bells } = this.#scene;
    this.#scene.say(
      `${this.#name} wakes ${[...heard.keys()].join(", ")} (${wakeClass})${fault === "none" ? "" : `, ${fault}`}`,
    );
    const wakes = [...heard].map(([key, { version, uid, listedAfter }]): Wake => {
      truth.heard(key);
      if (uid > 0) truth.forgetFailures(key);
      return {
        key,
        kind: "things",
        resourceVersion: String(version),
        uid: `u${uid}`,
        reason: "Heard",
        class: wakeClass,
        copy: String(version),
        ...(listedAfter && { listedAfter }),
      };
    });
    try {
      const rung = await call(fault, () => this.ledger.wake(wakes));
      if (rung === "unheard") return false;
      if (wakeClass !== "resync") for (const [key, { version }] of heard) truth.told(key, version);
      this.#scene.say(`${this.#name} adds ${shown(rung)}`);
      bells.add(rung);
      return true;
    } catch (error) {
      if (error instanceof Died) return false;
      throw error;
    }
  }
}
