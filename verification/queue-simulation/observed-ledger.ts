import type { ObjectKey } from "@drover/controller";
import type {
  ClaimAnswer,
  LeasedKey,
  Ledger,
  ChannelSubscription,
  IdleSlots,
  SettleAnswer,
  SlotRequest,
} from "../../packages/queue/src/ledger/ledger.ts";
import * as answers from "../../packages/queue/src/ledger/redis-ledger-answers.ts";
import type { RedisLedger } from "../../packages/queue/src/ledger/redis-ledger.ts";
import type { RunOutcome } from "../../packages/queue/src/work-queue/work-queue.ts";
import { times } from "./schedule.ts";
import { type AssignmentTime, shown, type SharedState } from "./shared-state.ts";
import { type Knowledge, type ObservedRun, Violation } from "./oracle.ts";

/** The slot that a run's token is of: what it was advertised under. */
const slotOf = (token: string): string => token.split(":")[0] ?? token;

/** How a process' call gets to Redis, or does not. */
export type Calling = <T>(what: string, ask: () => Promise<T>) => Promise<T>;

export interface ObservedLedgerParts {
  readonly shared: SharedState;
  readonly ledger: RedisLedger;
  readonly call: Calling;
  /** Receives what is published for a worker. */
  readonly listen: (worker: string, onMessage: (message: string) => void) => ChannelSubscription;
  readonly log: (what: string) => void;
}

/** The ledger as one process reaches it: what it asks and is answered shows what must hold of that process. */
export class ObservedLedger {
  readonly #parts: ObservedLedgerParts;
  /** Its runs, by their tokens. */
  readonly runs = new Map<string, ObservedRun>();
  /** Workers that it has registered. */
  readonly registered = new Set<string>();
  readonly #listening = new Set<string>();
  /** The keys that it was assigned, by the tokens of the runs. */
  readonly #assigned = new Map<string, AssignmentTime>();
  /** Outcomes that it has sent, and those that were answered, by their tokens. */
  readonly #sent = new Map<string, { at: number; known: ReadonlyMap<ObjectKey, Knowledge> }>();
  readonly #firstSent = new Map<string, number>();
  readonly #settling = new Set<string>();
  readonly #answered = new Set<string>();
  /** The knowledge of a key at its first claim under a token. */
  readonly #claims = new Map<string, Knowledge>();
  readonly #claiming = new Set<string>();
  /** Slots whose claim was refused because they had been assigned another key. */
  readonly #taken = new Set<string>();
  /** Its last advertisements. */
  #advertisements: readonly IdleSlots[] = [];

  constructor(parts: ObservedLedgerParts) {
    this.#parts = parts;
  }

  /** A key that it was assigned, and neither runs nor gives back. */
  get lost(): string | undefined {
    // The answer to a claim under way says what becomes of its slot; if it was assigned a key before, the next
    // advertisement does.
    const isClaimed = (slot: string): boolean => this.#claiming.has(slot) || this.#taken.has(slot);
    const { local, oracle } = this.#parts.shared;
    const found = [...this.#assigned].find(
      ([token, { at, losses }]) =>
        !this.runs.has(token) &&
        !this.#firstSent.has(token) &&
        !isClaimed(slotOf(token)) &&
        // Later its lease has come to its end, and a server that takes over may not have it.
        local < at + times.lease &&
        losses === oracle.losses,
    );
    return found?.[0];
  }

  /**
   * True if nothing that would send this outcome is under way, though its lease, which began after it was first sent,
   * lasts.
   */
  isGivenUp(token: string): boolean {
    const first = this.#firstSent.get(token);
    const isUnderWay = this.#settling.has(token) || this.#answered.has(token);
    return first !== undefined && !isUnderWay && this.#parts.shared.local < first + times.lease;
  }

  get listens(): boolean {
    return this.#listening.size > 0;
  }

  /** An advertisement of some time ago, which may arrive once more. */
  takeAdvertisement(): IdleSlots | undefined {
    const [slots, ...later] = this.#advertisements;
    this.#advertisements = later;
    return slots;
  }

  /** For the process. */
  asLedger(): Ledger {
    const { ledger, call } = this.#parts;
    return {
      ...ledger,
      claim: (key, token, version = 0, askedAt = 0) => this.#claim(key, token, version, askedAt),
      settle: (key, token, outcome, report, next) => {
        if (!this.#firstSent.has(token)) this.#firstSent.set(token, this.#parts.shared.local);
        this.#settling.add(token);
        const what = `settles ${key} as ${this.#short(token)}, next ${next ? this.#short(next.token) : "-"}: ${JSON.stringify(outcome)}`;
        const ask = () => ledger.settle(key, token, outcome, report, next);
        return call(what, () => this.#settle({ key, token, outcome, next }, ask)).finally(() =>
          this.#settling.delete(token),
        );
      },
      renew: (leases) =>
        call(`renews ${leases.map(({ token }) => this.#short(token)).join()}`, () => ledger.renew(leases)),
      advertise: (slots) => this.#advertise(slots),
      retract: async (slots) =>
        this.#noteAssigned(await call("retracts its slots", () => ledger.retract(slots))),
      receiveAssignments: (worker, onAssignment) => {
        this.#listening.add(worker);
        const listening = this.#parts.listen(worker, (message) => {
          const assigned = answers.parseLeasedKeys(message.split("\n"), "assigned", () => undefined);
          this.#noteAssigned(assigned).forEach(onAssignment);
        });
        const stop = (): void => {
          this.#listening.delete(worker);
          listening.stop();
        };
        return { ...listening, stop };
      },
      dispatch: () => call("dispatches", () => ledger.dispatch()),
      unclaimedJobs: (minAge) => call("looks for lost jobs", () => ledger.unclaimedJobs(minAge)),
      dispatchAgain: (job) => call(`dispatches ${job.key} again`, () => ledger.dispatchAgain(job)),
      registerWorker: (registration) =>
        call(`is here with ${registration.slots}`, async () => {
          const { worker, slots, version, lasts } = registration;
          const until = this.#now + lasts;
          await ledger.registerWorker(registration);
          this.registered.add(worker);
          this.#parts.shared.oracle.registered(worker, slots === 0 ? undefined : { version, until });
        }),
    };
  }

  async #claim(key: ObjectKey, token: string, version: number, askedAt: number): Promise<ClaimAnswer> {
    const { shared, ledger, call, log } = this.#parts;
    const { oracle, knownWhenAssigned } = shared;
    this.#claiming.add(token);
    return call(`claims ${key} as ${this.#short(token)}`, async () => {
      const known = this.#claims.get(token) ?? oracle.known(key);
      this.#claims.set(token, known);
      const answer = await ledger.claim(key, token, version, askedAt);
      if ("claimed" in answer) {
        // The key that its slot was assigned before has come to its end.
        for (const assigned of this.#assigned.keys())
          if (slotOf(assigned) === token) this.#assigned.delete(assigned);
        if (!knownWhenAssigned.has(token)) knownWhenAssigned.set(token, known);
        const { claim } = answer.claimed;
        shared.checked(() => oracle.granted({ key, token, claim, known }, version, this.#now));
      } else {
        log(`was refused: ${answer.refused}`);
        if (answer.refused === "slot taken") this.#taken.add(token);
      }
      return answer;
    }).finally(() => this.#claiming.delete(token));
  }

  async #settle(
    {
      key,
      token,
      outcome,
      next,
    }: { key: ObjectKey; token: string; outcome: RunOutcome; next: SlotRequest | undefined },
    ask: () => Promise<SettleAnswer>,
  ): Promise<SettleAnswer> {
    const { shared, log } = this.#parts;
    const { oracle, advertised } = shared;
    const isFirst = !this.#sent.has(token);
    const known = new Map(oracle.names.map((name) => [name, oracle.known(name)]));
    const sent = this.#sent.get(token) ?? { at: this.#now, known };
    this.#sent.set(token, sent);
    if (next?.worker !== undefined) advertised.set(next.token, next.version);
    const answer = await ask();
    this.#answered.add(token);
    if (answer.kind === "stale") {
      log("was stale");
      return answer;
    }
    log(`due in ${answer.dueIn ?? "-"}, ${shown(answer.jobs)}; it was ${key}`);
    const of = this.runs.get(token);
    if (of && isFirst) {
      oracle.reconciled(of, outcome);
      shared.checked(() => oracle.settled(of, outcome, sent.at));
    }
    if (next && answer.chained) this.#noteChained(next, answer.chained, sent.known);
    return answer;
  }

  #noteChained(
    { token, version }: SlotRequest,
    { key, claim }: LeasedKey,
    before: ReadonlyMap<ObjectKey, Knowledge>,
  ): void {
    const { shared, log } = this.#parts;
    shared.checked(() => {
      const known = before.get(key);
      if (!known) throw new Violation(`${key} was chained, which was never woken`);
      if (!shared.knownWhenAssigned.has(token)) shared.knownWhenAssigned.set(token, known);
      shared.oracle.granted({ key, token, claim, known }, version, this.#now);
    });
    log(`gets ${key} chained as ${this.#short(token)}`);
  }

  async #advertise(slots: IdleSlots): Promise<readonly LeasedKey[]> {
    const { shared, ledger, call } = this.#parts;
    const takenBefore = slots.tokens.filter((token) => this.#taken.has(token));
    const all = await call(`advertises ${slots.tokens.map((token) => this.#short(token)).join()}`, () => {
      this.#advertisements = [...this.#advertisements.slice(-2), slots];
      for (const token of slots.tokens) shared.advertised.set(token, slots.version);
      return ledger.advertise(slots);
    });
    for (const token of takenBefore) this.#taken.delete(token);
    return this.#noteAssigned(all);
  }

  #noteAssigned(all: readonly LeasedKey[]): readonly LeasedKey[] {
    const { assigned, local, oracle } = this.#parts.shared;
    for (const { token } of all)
      this.#assigned.set(token, assigned.get(token) ?? { at: local, losses: oracle.losses });
    return all;
  }

  get #now(): number {
    const { local, hurried } = this.#parts.shared;
    return local + hurried;
  }

  #short(token: string): string {
    return this.#parts.shared.short(token);
  }
}
