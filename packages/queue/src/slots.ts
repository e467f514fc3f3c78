import type { Log, Milliseconds } from "@drover/controller";
import { type CancelTimer, every, type Timers } from "@drover/timers";
import type { Given, Ledger, Listening, Offering, Taker } from "./ledger.ts";
import type { Turn } from "./perform-run.ts";

/**
 * The most slots that a worker advertises. Each one must be renewed, and under load keys are chained to runs, or come
 * by jobs.
 */
const offeredAtMost = 32;

export interface SlotsParts {
  readonly ledger: Ledger;
  readonly worker: string;
  readonly version: number;
  readonly concurrency: number;
  /** How often idle slots are advertised again; at most half as long as an advertisement lasts. */
  readonly renewal: Milliseconds;
  readonly timers: Timers;
  /** Makes a unique name. */
  readonly newId: () => string;
  readonly log: Log;
  /** Runs a key that a slot was assigned. */
  readonly run: (turn: Turn) => void;
  /** Gives back a key that was assigned to a slot that is busy or gone. */
  readonly giveBack: (given: Given) => Promise<void>;
}

/**
 * The slots of a worker, each under a token of its own. A slot is busy, or advertised to the ledger, which assigns it a
 * key as soon as one is due. A slot without a token, as at the start or after a failed run, is advertised at the next
 * renewal.
 */
export class Slots {
  readonly #parts: SlotsParts;
  /** Slots, with the tokens of their runs; undefined while a claim for a job is in progress. */
  readonly #busy = new Map<string, string | undefined>();
  readonly #offered = new Set<string>();
  /** Slots that were assigned a key, according to a refused claim, but have not received it yet. */
  readonly #expected = new Set<string>();
  /** The next tokens of slots, sent with an outcome that is not answered yet; each with the slot of that outcome. */
  readonly #nexts = new Map<string, string>();
  /** Jobs that wait for a slot. */
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

  /** Takes a slot for a job. Resolves with the token to claim with, or with undefined if the worker is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const [slot] = this.#used < this.#parts.concurrency ? [this.#parts.newId()] : this.#offered;
    if (slot === undefined) return new Promise((resolve) => void this.#bells.push(resolve));
    this.#offered.delete(slot);
    return Promise.resolve(this.#claimWith(slot));
  }

  /** The ledger has accepted the claim under this slot's token. */
  claimed(slot: string): void {
    this.#busy.set(slot, slot);
  }

  /** The ledger has refused the claim, because it had assigned this slot a key before: that key is on its way. */
  wasGiven(slot: string): void {
    this.#busy.delete(slot);
    this.#expected.add(slot);
  }

  /** The token and version under which another key may be chained to this slot's run when it is settled. */
  next(slot: string): Taker {
    const token = this.#parts.newId();
    const isOneMore = this.#offered.size + this.#nexts.size < offeredAtMost;
    this.#nexts.set(token, slot);
    return { token, version: this.#parts.version, ...(isOneMore && { offeredBy: this.#now() }) };
  }

  /** The run was settled and no key chained to it: the slot is now advertised, if `next` asked for that. */
  offered(slot: string, next: Taker): void {
    if (!next.offeredBy) {
      this.free(slot, next);
      return;
    }
    if (!this.#nexts.delete(next.token)) return; // it was assigned a key already
    this.#busy.delete(slot);
    if (this.#closed) void this.#withdraw([next.token]);
    else this.#stand(next.token);
  }

  /** The run was settled and a key chained to it: the slot is busy with that key. */
  handed(slot: string, next: Taker): void {
    this.#nexts.delete(next.token);
    this.#busy.delete(slot);
    this.#busy.set(next.token, next.token);
  }

  /** The run has ended, and no key follows. A slot that was assigned its next key already stays busy with that. */
  free(slot: string, next?: Taker): void {
    if (next) this.#nexts.delete(next.token);
    if (!this.#busy.delete(slot)) return;
    this.#bells.shift()?.(this.#claimWith(this.#parts.newId()));
  }

  /** Takes no more keys: those that still arrive are given back. */
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

  /** The ledger has recorded this slot as idle: a job that waits takes the slot, otherwise it stays advertised. */
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
    if (this.#busy.has(slot) && (this.#busy.get(slot) ?? token) === token) return; // duplicate, or its claim reports it
    const settled = this.#nexts.get(slot);
    if (settled !== undefined) this.#busy.delete(settled); // its outcome was recorded
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
