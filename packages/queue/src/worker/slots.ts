import type { Log, Milliseconds } from "@drover/controller";
import { type CancelTimer, repeatEvery, type Timers } from "@drover/timers";
import type { LeasedKey, Ledger, ChannelSubscription, IdleSlots, SlotRequest } from "../ledger/ledger.ts";

/**
 * The most slots that a worker advertises. Each one must be renewed, and under load keys are chained to runs, or come
 * by jobs.
 */
const maxAdvertisedSlots = 32;

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
  readonly run: (leased: LeasedKey) => void;
  /** Gives back a key that was assigned to a slot that is busy or gone. */
  readonly giveBack: (leased: LeasedKey) => Promise<void>;
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
  readonly #advertised = new Set<string>();
  /** Slots that were assigned a key, according to a refused claim, but have not received it yet. */
  readonly #awaitingKey = new Set<string>();
  /**
   * Keys that arrived for a slot while a claim under its token was in progress. The claim may have been refused before the
   * key was assigned, if an earlier advertisement of the slot reached Redis late.
   */
  readonly #arrivedEarly = new Map<string, LeasedKey>();
  /** The next tokens of slots, sent with an outcome that is not answered yet; each with the slot of that outcome. */
  readonly #requests = new Map<string, string>();
  /** Jobs that wait for a slot. */
  readonly #waitingJobs: ((token: string | undefined) => void)[] = [];
  readonly #subscription: ChannelSubscription;
  readonly #stopRenewing: CancelTimer;
  #renewing = false;
  #closed = false;

  constructor(parts: SlotsParts) {
    this.#parts = parts;
    this.#subscription = parts.ledger.receiveAssignments(parts.worker, (leased) => this.#receive(leased));
    this.#stopRenewing = repeatEvery(
      parts.timers,
      parts.renewal,
      "offering slots",
      () => void this.#readvertise(),
    );
  }

  /** Takes a slot for a job. Resolves with the token to claim with, or with undefined if the worker is closed. */
  acquire(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const [slot] = this.#used < this.#parts.concurrency ? [this.#parts.newId()] : this.#advertised;
    if (slot === undefined) return new Promise((resolve) => void this.#waitingJobs.push(resolve));
    this.#advertised.delete(slot);
    return Promise.resolve(this.#reserve(slot));
  }

  /** The ledger has accepted the claim under this slot's token. */
  markClaimed(slot: string): void {
    this.#busy.set(slot, slot);
    this.#giveBackEarly(slot);
  }

  /** The ledger has refused the claim, because it had assigned this slot a key before: that key is on its way. */
  markAssigned(slot: string): void {
    this.#busy.delete(slot);
    this.#awaitingKey.add(slot);
    const early = this.#takeEarly(slot);
    if (early !== undefined) this.#receive(early);
  }

  /** The token and version under which another key may be chained to this slot's run when it is settled. */
  nextRequest(slot: string): SlotRequest {
    const token = this.#parts.newId();
    const isOneMore = this.#advertised.size + this.#requests.size < maxAdvertisedSlots;
    this.#requests.set(token, slot);
    const { worker, ...request } = this.#request();
    return { token, ...request, ...(isOneMore && { worker }) };
  }

  /** The run was settled and no key chained to it: the slot is now advertised, if `next` asked for that. */
  markAdvertised(slot: string, next: SlotRequest): void {
    if (next.worker === undefined) {
      this.release(slot, next);
      return;
    }
    if (!this.#requests.delete(next.token)) return; // it was assigned a key already
    this.#busy.delete(slot);
    if (this.#closed) void this.#retract([next.token]);
    else this.#becomeIdle(next.token);
  }

  /** The run was settled and a key chained to it: the slot is busy with that key. */
  markChained(slot: string, next: SlotRequest): void {
    this.#requests.delete(next.token);
    this.#busy.delete(slot);
    this.#busy.set(next.token, next.token);
  }

  /** The run has ended, and no key follows. A slot that was assigned its next key already stays busy with that. */
  release(slot: string, next?: SlotRequest): void {
    if (next) this.#requests.delete(next.token);
    this.#giveBackEarly(slot);
    if (!this.#busy.delete(slot)) return;
    this.#waitingJobs.shift()?.(this.#reserve(this.#parts.newId()));
  }

  /** Takes no more keys: those that still arrive are given back. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopRenewing();
    for (const resolve of this.#waitingJobs.splice(0)) resolve(undefined);
    const slots = [...this.#advertised, ...this.#awaitingKey];
    this.#advertised.clear();
    this.#awaitingKey.clear();
    await this.#retract(slots);
    this.#subscription.stop();
  }

  get #used(): number {
    return this.#busy.size + this.#advertised.size + this.#awaitingKey.size;
  }

  /** The ledger has recorded this slot as idle: a job that waits takes the slot, otherwise it stays advertised. */
  #becomeIdle(slot: string): void {
    const resolve = this.#waitingJobs.shift();
    if (resolve) resolve(this.#reserve(slot));
    else this.#advertised.add(slot);
  }

  #reserve(slot: string): string {
    this.#busy.set(slot, undefined);
    return slot;
  }

  #request(): Omit<IdleSlots, "tokens"> {
    const { worker, version, timers } = this.#parts;
    return { worker, version, askedAt: Math.floor(timers.now()) };
  }

  #receive(leased: LeasedKey): void {
    const { slot, token } = leased;
    if (this.#busy.has(slot)) {
      const running = this.#busy.get(slot);
      if (running === token) return; // a duplicate
      if (running === undefined) return void this.#arrivedEarly.set(slot, leased); // its claim decides
    }
    const settled = this.#requests.get(slot);
    if (settled !== undefined) this.#busy.delete(settled); // its outcome was recorded
    const isFree = [this.#requests, this.#advertised, this.#awaitingKey].some((those) => those.delete(slot));
    if (!isFree || this.#closed) {
      void this.#parts.giveBack(leased);
      return;
    }
    this.#busy.set(slot, token);
    this.#parts.run(leased);
  }

  #takeEarly(slot: string): LeasedKey | undefined {
    const early = this.#arrivedEarly.get(slot);
    this.#arrivedEarly.delete(slot);
    return early;
  }

  #giveBackEarly(slot: string): void {
    const early = this.#takeEarly(slot);
    if (early !== undefined) void this.#parts.giveBack(early);
  }

  async #readvertise(): Promise<void> {
    const { ledger, concurrency, log } = this.#parts;
    if (this.#renewing || this.#closed) return;
    const most = Math.min(concurrency - this.#used, maxAdvertisedSlots - this.#advertised.size);
    for (let i = 0; i < most; i++) this.#advertised.add(this.#parts.newId());
    const slots = [...this.#advertised, ...this.#awaitingKey];
    if (slots.length === 0) return;
    this.#renewing = true;
    try {
      for (const leased of await ledger.advertise({ ...this.#request(), tokens: slots }))
        this.#receive(leased);
      for (const slot of slots) if (this.#awaitingKey.delete(slot)) this.#becomeIdle(slot);
    } catch (error) {
      log.warn({ err: error }, "Could not advertise idle slots; trying again");
    } finally {
      this.#renewing = false;
    }
  }

  async #retract(slots: readonly string[]): Promise<void> {
    const { ledger, log, giveBack } = this.#parts;
    const taken = await ledger.retract({ ...this.#request(), tokens: slots }).catch((error: unknown) => {
      log.debug({ err: error }, "Could not retract idle slots; their advertisements will expire");
      return [];
    });
    await Promise.all(taken.map(giveBack));
  }
}
