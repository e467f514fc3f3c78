import type { ObjectKey } from "@drover/controller";
import type { RedisLedger } from "../src/redis-ledger.ts";
import type { Wake, WakeClass } from "../src/work-queue.ts";
import type { Fault } from "./schedule.ts";
import { call, Died, shown, type Surroundings } from "./surroundings.ts";

/**
 * What a bridge does: it wakes keys for what it heard of, tells again what was not answered, starts again from where it
 * was when it died, and looks at everything when Redis may have lost what it acknowledged.
 */
export class SimulatedProducer {
  readonly #scene: Surroundings;
  readonly #name: string;
  readonly ledger: RedisLedger;
  #heard: ObjectKey[] = [];
  #relist = false;

  constructor(scene: Surroundings, name: string) {
    this.#scene = scene;
    this.#name = name;
    this.ledger = scene.open(() => {
      this.#relist = true;
    });
  }

  get busy(): boolean {
    return this.#heard.length > 0 || this.#relist;
  }

  /** What its ringer does every so often: it hears of a new era. */
  async beat(): Promise<void> {
    await this.ledger.renew([]);
  }

  hear(key: ObjectKey): void {
    this.#heard.push(key);
  }

  async deliver(wakeClass: WakeClass, fault: Fault): Promise<void> {
    if (this.#relist) {
      this.#relist = false;
      this.#heard = this.#scene.truth.names.filter((name) => this.#scene.truth.of(name).version > 0);
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
    if (key !== undefined && truth.of(key).version > 0) await this.#tell([key], "resync", fault);
  }

  async #wake(wakeClass: WakeClass, fault: Fault): Promise<void> {
    const keys = [...new Set(this.#heard)];
    if (keys.length > 0 && (await this.#tell(keys, wakeClass, fault))) this.#heard = [];
  }

  /** Whether it was answered. */
  async #tell(keys: readonly ObjectKey[], wakeClass: WakeClass, fault: Fault): Promise<boolean> {
    const { truth, bells } = this.#scene;
    this.#scene.say(
      `${this.#name} wakes ${keys.join(", ")} (${wakeClass})${fault === "none" ? "" : `, ${fault}`}`,
    );
    const wakes = keys.map((key): Wake => {
      truth.heard(key);
      const { version, uid } = truth.of(key);
      if (uid > 0) truth.forgetFailures(key);
      return {
        key,
        kind: "things",
        resourceVersion: String(version),
        uid: `u${uid}`,
        reason: "Heard",
        class: wakeClass,
      };
    });
    try {
      const rung = await call(fault, () => this.ledger.wake(wakes));
      if (rung === "unheard") return false;
      this.#scene.say(`${this.#name} adds ${shown(rung)}`);
      bells.add(rung);
      return true;
    } catch (error) {
      if (error instanceof Died) return false;
      throw error;
    }
  }
}
