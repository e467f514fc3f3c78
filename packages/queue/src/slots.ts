import type { Log, Milliseconds, ObjectKey } from "@drover/controller";
import { randomUUID } from "node:crypto";
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
  /** How long a key is ours that was given to a slot, unless that is renewed. */
  readonly lease: Milliseconds;
  readonly log: Log;
  /** Runs what a slot was given. */
  readonly run: (turn: Turn) => void;
  /** Gives back what was given to a slot that is not there any more. */
  readonly giveBack: (given: Given) => Promise<void>;
}

/**
 * The slots of a worker, each under the token of its run: busy, or offered to the ledger, which gives it a key as soon as
 * one is due. One that has no token yet, as at the start or after a failed run, is offered with the next renewal.
 */
export class Slots {
  readonly #parts: SlotsParts;
  /** With the key that was given to it, where it was not a bell's. */
  readonly #busy = new Map<string, ObjectKey | undefined>();
  readonly #offered = new Set<string>();
  /** Given, as a refused claim said, and not heard of yet. */
  readonly #expected = new Set<string>();
  /** Asked for with a verdict that is not answered yet, by the token of its run. */
  readonly #nexts = new Map<string, string>();
  /** Bells that wait for a slot. */
  readonly #bells: ((token: string | undefined) => void)[] = [];
  readonly #listening: Listening;
  readonly #timer: NodeJS.Timeout;
  #renewing = false;
  #closed = false;

  constructor(parts: SlotsParts) {
    this.#parts = parts;
    this.#listening = parts.ledger.listen(parts.worker, (given) => this.#hear(given));
    this.#timer = setInterval(() => void this.#renew(), parts.renewal);
  }

  /** A slot for a bell: the token to claim with; undefined where there will be none any more. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const [token] = this.#used < this.#parts.concurrency ? [randomUUID()] : this.#offered;
    if (token === undefined) return new Promise((resolve) => void this.#bells.push(resolve));
    this.#offered.delete(token);
    return Promise.resolve(this.#become(token));
  }

  /** The ledger refused a claim since it had given this slot another key: that one is on its way. */
  wasGiven(token: string): void {
    this.#busy.delete(token);
    this.#expected.add(token);
  }

  /** Who would run another key when the verdict of this token's run is told. */
  next(of: string): Taker {
    const token = randomUUID();
    const isOneMore = this.#offered.size + this.#nexts.size < offeredAtMost;
    this.#nexts.set(token, of);
    return { token, version: this.#parts.version, ...(isOneMore && { offeredBy: this.#now() }) };
  }

  /** The verdict was answered with nothing to run: the slot is offered, as it was said to be. */
  offered(token: string, next: Taker): void {
    if (!next.offeredBy) {
      this.free(token, next);
      return;
    }
    if (!this.#nexts.delete(next.token)) return; // it was given a key already
    this.#busy.delete(token);
    const bell = this.#bells.shift();
    if (this.#closed) void this.#withdraw([next.token]);
    else if (bell) bell(this.#become(next.token));
    else this.#offered.add(next.token);
  }

  /** The verdict was answered with the key that the slot is busy with from now on. */
  handed(token: string, next: Taker): void {
    this.#nexts.delete(next.token);
    this.#busy.delete(token);
    this.#become(next.token);
  }

  /** The run has ended, and nothing follows. */
  free(token: string, next?: Taker): void {
    if (next) this.#nexts.delete(next.token);
    this.#busy.delete(token);
    this.#bells.shift()?.(this.#become(randomUUID()));
  }

  /** From now on nothing is taken, and what comes is given back. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const bell of this.#bells.splice(0)) bell(undefined);
    const tokens = [...this.#offered, ...this.#expected];
    this.#offered.clear();
    this.#expected.clear();
    await this.#withdraw(tokens);
    this.#listening.stop();
  }

  get #used(): number {
    return this.#busy.size + this.#offered.size + this.#expected.size;
  }

  #become(token: string, key?: ObjectKey): string {
    this.#busy.set(token, key);
    return token;
  }

  #now(): Offering {
    return { worker: this.#parts.worker, askedAt: Math.floor(performance.now()) };
  }

  #hear(given: Given): void {
    const { token, key } = given;
    if (this.#busy.has(token) && (this.#busy.get(token) ?? key) === key) return; // told twice, or its claim will tell
    // After a pause of ours, of as long as a lease. The slot may be offered anew by now, and given another key under the same
    // token: that one's verdict would be this run's. If it does hold the key still, the next renewal says so until that ends.
    if (!this.#closed && performance.now() >= given.askedAt + this.#parts.lease - this.#parts.renewal) return;
    const settled = this.#nexts.get(token);
    if (settled !== undefined) this.#busy.delete(settled); // its verdict has got through
    const isFree = [this.#nexts, this.#offered, this.#expected].some((those) => those.delete(token));
    if (isFree && !this.#closed) this.#parts.run({ ...given, token: this.#become(token, key), by: "given" });
    else void this.#parts.giveBack(given);
  }

  async #renew(): Promise<void> {
    const { ledger, version, concurrency, log } = this.#parts;
    if (this.#renewing || this.#closed) return;
    const most = Math.min(concurrency - this.#used, offeredAtMost - this.#offered.size);
    for (let i = 0; i < most; i++) this.#offered.add(randomUUID());
    const tokens = [...this.#offered, ...this.#expected];
    if (tokens.length === 0) return;
    this.#renewing = true;
    try {
      for (const given of await ledger.offer({ ...this.#now(), version, tokens })) this.#hear(given);
      for (const token of tokens) if (this.#expected.delete(token)) this.#offered.add(token);
    } catch (error) {
      log.warn({ err: error }, "Could not offer free slots; trying again");
    } finally {
      this.#renewing = false;
    }
  }

  async #withdraw(tokens: readonly string[]): Promise<void> {
    const { ledger, version, log, giveBack } = this.#parts;
    const taken = await ledger.withdraw({ ...this.#now(), version, tokens }).catch((error: unknown) => {
      log.debug({ err: error }, "Could not take free slots back; their offers will end");
      return [];
    });
    await Promise.all(taken.map(giveBack));
  }
}
