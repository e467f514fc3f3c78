import type { Log, Milliseconds } from "@drover/controller";
import { type CancelTimer, every, type Timers } from "@drover/timers";
import type { Given, Ledger, Listening, Offering, Taker } from "./ledger.ts";
import type { Turn } from "./perform-run.ts";

/**
 * So many slots are offered at most: each is renewed, and for what comes in a crowd a verdict hands over the next key, or a
 * bell brings it.
 */
const offeredAtMost = 32;

export interface SlotsParts {
  readonly ledger: Ledger;
  readonly worker: string;
  readonly version: number;
  readonly concurrency: number;
  /** How often the ledger is told which are free; at most half as long as an offer stands. */
  readonly renewal: Milliseconds;
  readonly timers: Timers;
  /** A name that nobody else has. */
  readonly newId: () => string;
  readonly log: Log;
  /** Runs what a slot was given. */
  readonly run: (turn: Turn) => void;
  /** Gives back what was given to a slot that is not there any more. */
  readonly giveBack: (given: Given) => Promise<void>;
}

/**
 * The slots of a worker, each under a token of its own: busy, or offered to the ledger, which gives it a key as soon as
 * one is due. One that has no token yet, as at the start or after a failed run, is offered with the next renewal.
 */
export class Slots {
  readonly #parts: SlotsParts;
  /** With the token of its run, unless that is claimed for a bell and not answered yet. */
  readonly #busy = new Map<string, string | undefined>();
  readonly #offered = new Set<string>();
  /** Given, as a refused claim said, and not heard of yet. */
  readonly #expected = new Set<string>();
  /** Asked for with a verdict that is not answered yet, and the slot of that. */
  readonly #nexts = new Map<string, string>();
  /** Bells that wait for a slot. */
  readonly #bells: ((token: string | undefined) => void)[] = [];
  readonly #listening: Listening;
  readonly #stopRenewing: CancelTimer;
  #renewing = false;
  #closed = false;

  constructor(parts: SlotsParts) {
    this.#parts = parts;
    this.#listening = parts.ledger.listen(parts.worker, (given) => this.#hear(given));
    this.#stopRenewing = every(parts.timers, parts.renewal, "offering slots", () => void this.#renew());
  }

  /** A slot for a bell: the token to claim with; undefined where there will be none any more. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const [slot] = this.#used < this.#parts.concurrency ? [this.#parts.newId()] : this.#offered;
    if (slot === undefined) return new Promise((resolve) => void this.#bells.push(resolve));
    this.#offered.delete(slot);
    return Promise.resolve(this.#claimWith(slot));
  }

  /** The ledger answered that this slot's token has claimed the key. */
  claimed(slot: string): void {
    this.#busy.set(slot, slot);
  }

  /** The ledger refused a claim since it had given this slot a key before: that one is on its way. */
  wasGiven(slot: string): void {
    this.#busy.delete(slot);
    this.#expected.add(slot);
  }

  /** Who would run another key when the verdict of this slot's run is told. */
  next(slot: string): Taker {
    const token = this.#parts.newId();
    const isOneMore = this.#offered.size + this.#nexts.size < offeredAtMost;
    this.#nexts.set(token, slot);
    return { token, version: this.#parts.version, ...(isOneMore && { offeredBy: this.#now() }) };
  }

  /** The verdict was answered with nothing to run: the slot is offered, as it was said to be. */
  offered(slot: string, next: Taker): void {
    if (!next.offeredBy) {
      this.free(slot, next);
      return;
    }
    if (!this.#nexts.delete(next.token)) return; // it was given a key already
    this.#busy.delete(slot);
    if (this.#closed) void this.#withdraw([next.token]);
    else this.#stand(next.token);
  }

  /** The verdict was answered with the key that the slot is busy with from now on. */
  handed(slot: string, next: Taker): void {
    this.#nexts.delete(next.token);
    this.#busy.delete(slot);
    this.#busy.set(next.token, next.token);
  }

  /** The run has ended, and nothing follows. A slot that was given its next key before is busy with that. */
  free(slot: string, next?: Taker): void {
    if (next) this.#nexts.delete(next.token);
    if (!this.#busy.delete(slot)) return;
    this.#bells.shift()?.(this.#claimWith(this.#parts.newId()));
  }

  /** From now on nothing is taken, and what comes is given back. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopRenewing();
    for (const bell of this.#bells.splice(0)) bell(undefined);
    const slots = [...this.#offered, ...this.#expected];
    this.#offered.clear();
    this.#expected.clear();
    await this.#withdraw(slots);
    this.#listening.stop();
  }

  get #used(): number {
    return this.#busy.size + this.#offered.size + this.#expected.size;
  }

  /** The ledger has an offer of this slot: a bell that waits takes it, or else it stays. */
  #stand(slot: string): void {
    const bell = this.#bells.shift();
    if (bell) bell(this.#claimWith(slot));
    else this.#offered.add(slot);
  }

  #claimWith(slot: string): string {
    this.#busy.set(slot, undefined);
    return slot;
  }

  #now(): Offering {
    return { worker: this.#parts.worker, askedAt: Math.floor(this.#parts.timers.now()) };
  }

  #hear(given: Given): void {
    const { slot, token } = given;
    if (this.#busy.has(slot) && (this.#busy.get(slot) ?? token) === token) return; // told twice, or its claim will tell
    const settled = this.#nexts.get(slot);
    if (settled !== undefined) this.#busy.delete(settled); // its verdict has got through
    const isFree = [this.#nexts, this.#offered, this.#expected].some((those) => those.delete(slot));
    if (!isFree || this.#closed) {
      void this.#parts.giveBack(given);
      return;
    }
    this.#busy.set(slot, token);
    this.#parts.run({ ...given, by: "given" });
  }

  async #renew(): Promise<void> {
    const { ledger, version, concurrency, log } = this.#parts;
    if (this.#renewing || this.#closed) return;
    const most = Math.min(concurrency - this.#used, offeredAtMost - this.#offered.size);
    for (let i = 0; i < most; i++) this.#offered.add(this.#parts.newId());
    const slots = [...this.#offered, ...this.#expected];
    if (slots.length === 0) return;
    this.#renewing = true;
    try {
      for (const given of await ledger.offer({ ...this.#now(), version, tokens: slots })) this.#hear(given);
      for (const slot of slots) if (this.#expected.delete(slot)) this.#stand(slot);
    } catch (error) {
      log.warn({ err: error }, "Could not offer free slots; trying again");
    } finally {
      this.#renewing = false;
    }
  }

  async #withdraw(slots: readonly string[]): Promise<void> {
    const { ledger, version, log, giveBack } = this.#parts;
    const taken = await ledger
      .withdraw({ ...this.#now(), version, tokens: slots })
      .catch((error: unknown) => {
        log.debug({ err: error }, "Could not take free slots back; their offers will end");
        return [];
      });
    await Promise.all(taken.map(giveBack));
  }
}
