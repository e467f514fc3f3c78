import type { ObjectKey } from "@drover/controller";
import type {
  ClaimAnswer,
  Given,
  Ledger,
  Listening,
  Offers,
  SettleAnswer,
  Taker,
} from "../../packages/queue/src/ledger.ts";
import * as answers from "../../packages/queue/src/redis-ledger-answers.ts";
import type { RedisLedger } from "../../packages/queue/src/redis-ledger.ts";
import type { Verdict } from "../../packages/queue/src/work-queue.ts";
import { times } from "./schedule.ts";
import { type Giving, shown, type Surroundings } from "./surroundings.ts";
import { type Knowledge, type ObservedRun, Violation } from "./truth.ts";

/** The slot that a run's token is of: what it was offered under. */
const slotOf = (token: string): string => token.split(":")[0] ?? token;

/** How a process' call gets to Redis, or does not. */
export type Calling = <T>(what: string, ask: () => Promise<T>) => Promise<T>;

export interface ObservedLedgerParts {
  readonly scene: Surroundings;
  readonly ledger: RedisLedger;
  readonly call: Calling;
  /** Hears what is published for a worker. */
  readonly listen: (worker: string, heard: (message: string) => void) => Listening;
  readonly say: (what: string) => void;
}

/** The ledger as one process reaches it: what it asks and is answered shows what must hold of that process. */
export class ObservedLedger {
  readonly #parts: ObservedLedgerParts;
  /** Its runs, by their tokens. */
  readonly runs = new Map<string, ObservedRun>();
  /** Workers that it has said are here. */
  readonly enlisted = new Set<string>();
  readonly #listening = new Set<string>();
  /** What it was given, by the tokens of the runs. */
  readonly #given = new Map<string, Giving>();
  /** Verdicts that it has told, and those that were answered, by their tokens. */
  readonly #told = new Map<string, { at: number; known: ReadonlyMap<ObjectKey, Knowledge> }>();
  readonly #firstTold = new Map<string, number>();
  readonly #settling = new Set<string>();
  readonly #answered = new Set<string>();
  /** What was known of a key when it was first claimed under a token. */
  readonly #claims = new Map<string, Knowledge>();
  readonly #claiming = new Set<string>();
  /** Slots whose claim was refused because they had been given another key. */
  readonly #taken = new Set<string>();
  /** Its last offers. */
  #offers: readonly Offers[] = [];

  constructor(parts: ObservedLedgerParts) {
    this.#parts = parts;
  }

  /** A key that it was given, and neither runs nor gives back. */
  get lost(): string | undefined {
    // The answer to a claim under way says what becomes of its slot; if it was given a key before, the next offer does.
    const isClaimed = (slot: string): boolean => this.#claiming.has(slot) || this.#taken.has(slot);
    const { local, truth } = this.#parts.scene;
    const found = [...this.#given].find(
      ([token, { at, losses }]) =>
        !this.runs.has(token) &&
        !this.#firstTold.has(token) &&
        !isClaimed(slotOf(token)) &&
        // Later its lease has come to its end, and a server that takes over may never have heard of it.
        local < at + times.lease &&
        losses === truth.losses,
    );
    return found?.[0];
  }

  /** Whether nothing is under way that would tell this verdict, and its lease, which began after it was first told, lasts. */
  isGivenUp(token: string): boolean {
    const first = this.#firstTold.get(token);
    const isUnderWay = this.#settling.has(token) || this.#answered.has(token);
    return first !== undefined && !isUnderWay && this.#parts.scene.local < first + times.lease;
  }

  get listens(): boolean {
    return this.#listening.size > 0;
  }

  /** An offer of some time ago, which may arrive once more. */
  takeOffer(): Offers | undefined {
    const [offers, ...later] = this.#offers;
    this.#offers = later;
    return offers;
  }

  /** For the process. */
  asLedger(): Ledger {
    const { ledger, call } = this.#parts;
    return {
      ...ledger,
      claim: (key, token, version = 0) => this.#claim(key, token, version),
      settle: (key, token, verdict, past, next) => {
        if (!this.#firstTold.has(token)) this.#firstTold.set(token, this.#parts.scene.local);
        this.#settling.add(token);
        const what = `settles ${key} as ${this.#short(token)}, next ${next ? this.#short(next.token) : "-"}: ${JSON.stringify(verdict)}`;
        const ask = () => ledger.settle(key, token, verdict, past, next);
        return call(what, () => this.#settle({ key, token, verdict, next }, ask)).finally(() =>
          this.#settling.delete(token),
        );
      },
      renew: (leases) =>
        call(`renews ${leases.map(({ token }) => this.#short(token)).join()}`, () => ledger.renew(leases)),
      offer: (offers) => this.#offer(offers),
      withdraw: async (offers) =>
        this.#isGiven(await call("withdraws its slots", () => ledger.withdraw(offers))),
      listen: (worker, hear) => {
        this.#listening.add(worker);
        const listening = this.#parts.listen(worker, (message) => {
          this.#isGiven(answers.given(message.split("\n"), () => undefined)).forEach(hear);
        });
        const stop = (): void => {
          this.#listening.delete(worker);
          listening.stop();
        };
        return { ...listening, stop };
      },
      ring: () => call("rings", () => ledger.ring()),
      unanswered: (patience) => call("looks for lost bells", () => ledger.unanswered(patience)),
      ringAgain: (bell) => call(`rings again for ${bell.key}`, () => ledger.ringAgain(bell)),
      enlist: (enlistment) =>
        call(`is here with ${enlistment.slots}`, async () => {
          const { worker, slots, version, lasts } = enlistment;
          const until = this.#now + lasts;
          await ledger.enlist(enlistment);
          this.enlisted.add(worker);
          this.#parts.scene.truth.enlisted(worker, slots === 0 ? undefined : { version, until });
        }),
    };
  }

  async #claim(key: ObjectKey, token: string, version: number): Promise<ClaimAnswer> {
    const { scene, ledger, call, say } = this.#parts;
    const { truth, knownWhenGiven } = scene;
    this.#claiming.add(token);
    return call(`claims ${key} as ${this.#short(token)}`, async () => {
      const known = this.#claims.get(token) ?? truth.known(key);
      this.#claims.set(token, known);
      const answer = await ledger.claim(key, token, version);
      if ("claimed" in answer) {
        // What its slot was given before has come to its end.
        for (const given of this.#given.keys()) if (slotOf(given) === token) this.#given.delete(given);
        if (!knownWhenGiven.has(token)) knownWhenGiven.set(token, known);
        scene.checked(() => truth.granted({ key, token, claim: answer.claimed, known }, version, this.#now));
      } else {
        say(`was refused: ${answer.refused}`);
        if (answer.refused === "slot taken") this.#taken.add(token);
      }
      return answer;
    }).finally(() => this.#claiming.delete(token));
  }

  async #settle(
    {
      key,
      token,
      verdict,
      next,
    }: { key: ObjectKey; token: string; verdict: Verdict; next: Taker | undefined },
    ask: () => Promise<SettleAnswer>,
  ): Promise<SettleAnswer> {
    const { scene, say } = this.#parts;
    const { truth, offered } = scene;
    const isFirst = !this.#told.has(token);
    const known = new Map(truth.names.map((name) => [name, truth.known(name)]));
    const told = this.#told.get(token) ?? { at: this.#now, known };
    this.#told.set(token, told);
    if (next?.offeredBy) offered.set(next.token, next.version);
    const answer = await ask();
    this.#answered.add(token);
    if (answer.kind === "stale") {
      say("was stale");
      return answer;
    }
    say(`due in ${answer.dueIn ?? "-"}, ${shown(answer.bells)}; it was ${key}`);
    const of = this.runs.get(token);
    if (of && isFirst) {
      truth.reconciled(of, verdict);
      scene.checked(() => truth.settled(of, verdict, told.at));
    }
    if (next && answer.handed) this.#isHanded(next, answer.handed, told.known);
    return answer;
  }

  #isHanded(
    { token, version }: Taker,
    { key, claim }: Pick<Given, "key" | "claim">,
    before: ReadonlyMap<ObjectKey, Knowledge>,
  ): void {
    const { scene, say } = this.#parts;
    scene.checked(() => {
      const known = before.get(key);
      if (!known) throw new Violation(`${key} was handed over, which nobody ever woke`);
      if (!scene.knownWhenGiven.has(token)) scene.knownWhenGiven.set(token, known);
      scene.truth.granted({ key, token, claim, known }, version, this.#now);
    });
    say(`is handed ${key} as ${this.#short(token)}`);
  }

  async #offer(offers: Offers): Promise<readonly Given[]> {
    const { scene, ledger, call } = this.#parts;
    const takenBefore = offers.tokens.filter((token) => this.#taken.has(token));
    const all = await call(`offers ${offers.tokens.map((token) => this.#short(token)).join()}`, () => {
      this.#offers = [...this.#offers.slice(-2), offers];
      for (const token of offers.tokens) scene.offered.set(token, offers.version);
      return ledger.offer(offers);
    });
    for (const token of takenBefore) this.#taken.delete(token);
    return this.#isGiven(all);
  }

  #isGiven(all: readonly Given[]): readonly Given[] {
    const { given, local, truth } = this.#parts.scene;
    for (const { token } of all)
      this.#given.set(token, given.get(token) ?? { at: local, losses: truth.losses });
    return all;
  }

  get #now(): number {
    const { local, hurried } = this.#parts.scene;
    return local + hurried;
  }

  #short(token: string): string {
    return this.#parts.scene.short(token);
  }
}
