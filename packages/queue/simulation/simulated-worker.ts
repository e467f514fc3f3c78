import type { ObjectKey } from "@drover/controller";
import type { ClaimAnswer, Given, Handed, Offers, SettleAnswer } from "../src/ledger.ts";
import type { RedisLedger } from "../src/redis-ledger.ts";
import type { Verdict } from "../src/work-queue.ts";
import { type Fault, type Terms, times } from "./schedule.ts";
import { call, Died, shown, type Surroundings } from "./surroundings.ts";
import { type Knowledge, type ObservedRun, type Version, Violation } from "./truth.ts";

/** In a trace: a run began with a copy of its object. */
export const givenACopy = "is given a copy";
/** In a trace: a run began with lists. */
export const givenLists = "is given lists";
/** In a trace: a run began of what was given to a free slot. */
export const givenByLetter = "is told of it";

/** What a run tells of its object, with its verdict. */
const telling = ({ version, uid }: Version, { parts }: ObservedRun): Pick<Verdict, "saw"> => ({
  saw: {
    ...{ kind: "things", uid: `u${uid}`, resourceVersion: String(version), copy: String(version) },
    lists: JSON.stringify(parts),
  },
});

/** A verdict that was told and not answered yet. */
interface Settling {
  readonly of: ObservedRun;
  readonly verdict: Verdict;
  readonly at: number;
  readonly askedAt: number;
  /** For what may be handed over: its token, and what was known of every key when it was asked for. */
  readonly next: string | undefined;
  readonly known: ReadonlyMap<ObjectKey, Knowledge>;
}

/** What `worker.ts` and `lease-keeper.ts` do, one call to Redis at a time. */
export class SimulatedWorker {
  readonly #scene: Surroundings;
  readonly #name: string;
  #ledger: RedisLedger;
  #tokens = 0;
  #version = 0;
  #lives = 0;
  /** The token under which its slot was offered. */
  #offer: string | undefined;
  #claiming: { key: ObjectKey; token: string; askedAt: number; known: Knowledge } | undefined;
  #run: { of: ObservedRun; heardAt: number; lost: boolean } | undefined;
  #settling: Settling | undefined;
  /** Its last offers. */
  #said: readonly Offers[] = [];
  frozen = false;

  constructor(scene: Surroundings, name: string) {
    this.#scene = scene;
    this.#name = name;
    this.#ledger = this.#open();
  }

  /** Whether it has work that it could go on with. */
  get busy(): boolean {
    return (this.#claiming ?? this.#run ?? this.#settling) !== undefined;
  }

  async enlist({ slots, version, attempts, runs }: Terms): Promise<void> {
    if (this.frozen) return;
    this.#version = version;
    const backoff = {
      first: times.first,
      longest: times.longest,
      ...(attempts !== undefined && { attempts }),
    };
    const limits = { accounts: {}, ...(runs && { runs }) };
    const worker = { worker: this.#name, slots, version, lasts: 1e9, backoff, ...limits };
    await this.#ledger.enlist(worker);
    this.#scene.truth.enlisted(this.#name, slots === 0 ? undefined : version);
  }

  /** The name under which it hears what it was given: another one in every life. */
  get #box(): string {
    return `${this.#name}.${this.#lives}`;
  }

  /** Its slot is free: says so, and hears what it was given before. */
  async offer(fault: Fault): Promise<void> {
    if (this.frozen || this.busy) return;
    const askedAt = this.#scene.local;
    const token = (this.#offer ??= this.#token());
    this.#scene.offered.set(token, this.#version);
    const offers = { worker: this.#box, askedAt, version: this.#version, tokens: [token] };
    this.#said = [...this.#said.slice(-2), offers];
    const answer = await this.#alive(`offers ${token}`, fault, () => this.#ledger.offer(offers));
    if (answer === "unheard" || answer === "dead") return;
    for (const given of answer) await this.#hear(given);
  }

  /** What it said of its slots some time ago arrives, maybe once more; nobody waits for the answer. */
  async lateOffer(): Promise<void> {
    const [offers, ...later] = this.#said;
    if (!offers) return;
    this.#said = later;
    this.#say(`offered ${offers.tokens.join()} at ${offers.askedAt}`);
    for (const token of offers.tokens) this.#scene.offered.set(token, offers.version);
    await this.#ledger.offer(offers);
  }

  /** Hears what it was told. What was not meant for its slot it gives back. */
  async #hearLetters(): Promise<void> {
    const letters = this.#scene.letters.get(this.#box) ?? [];
    this.#scene.letters.delete(this.#box);
    for (const given of letters) await this.#hear(given);
  }

  async #hear({ slot, key, token, claim, askedAt }: Given): Promise<void> {
    if (this.#run?.of.token === token || this.#settling?.of.token === token) return;
    const next = this.#settling?.next === slot ? this.#settling : undefined;
    if (!next && this.#offer !== slot) {
      this.#say(`gives ${key} of ${token} back`);
      const answer = await this.#ledger.settle(key, token, { kind: "interrupted" });
      if (answer.kind === "settled") this.#scene.bells.add(answer.bells);
      return;
    }
    const known = this.#scene.knownWhenGiven.get(token);
    if (!known) throw new Violation(`${token} was told of ${key}, and not when it was given`);
    this.#say(givenByLetter);
    if (next) this.#conclude(next);
    this.#offer = undefined;
    this.#begin({ key, token, claim, known }, askedAt);
  }

  #token(): string {
    const token = `${this.#name}-${++this.#tokens}`;
    this.#scene.offered.set(token, this.#version);
    return token;
  }

  /** Takes a bell and claims its key; asks again where no answer came. */
  async take(fault: Fault): Promise<void> {
    if (this.frozen) return;
    if (!this.#claiming) await this.#hearLetters();
    if (this.#run || this.#settling) return;
    if (!this.#claiming) {
      const bell = this.#scene.bells.next();
      if (!bell) return;
      const token = this.#offer ?? this.#token();
      this.#claiming = {
        key: bell.key,
        token,
        askedAt: this.#scene.local,
        known: this.#scene.truth.known(bell.key),
      };
    }
    const { key, token, askedAt, known } = this.#claiming;
    const answer = await this.#alive(`claims ${key} as ${token}`, fault, () => this.#claim(key, token));
    if (answer === "unheard" || answer === "dead") return;
    this.#claiming = undefined;
    if ("refused" in answer) {
      this.#say(`was refused: ${answer.refused}`);
      if (answer.refused !== "slot taken") this.#offer = undefined;
      return;
    }
    this.#offer = undefined;
    this.#begin({ key, token, claim: answer.claimed, known }, askedAt);
  }

  /** Ends its run with a verdict, or tells the one again that was not answered. */
  async finish(wanted: Verdict, fault: Fault): Promise<void> {
    if (this.frozen) return;
    if (this.#run) {
      const { of, lost } = this.#run;
      const wrote = this.#write() && !lost ? this.#scene.truth.wrote(of) : undefined;
      const verdict: Verdict = lost
        ? { kind: "interrupted" }
        : { ...wanted, ...(wrote && telling(wrote, of)) };
      this.#settling = this.#ending(of, verdict);
      this.#run = undefined;
    }
    if (!this.#settling) return;
    const settling = this.#settling;
    const { of, verdict, at, next } = settling;
    const answer = await this.#alive(
      `settles ${of.key} as ${of.token}, next ${next ?? "-"}: ${JSON.stringify(verdict)}`,
      fault,
      () => this.#settle(settling),
    );
    if (answer === "unheard" || answer === "dead") return;
    this.#settling = undefined;
    if (answer.kind === "stale") {
      this.#say("was stale");
      return;
    }
    this.#say(`due in ${answer.dueIn ?? "-"}, ${shown(answer.bells)}`);
    this.#scene.truth.settled(of, verdict, at);
    this.#scene.bells.add(answer.bells);
    if (next === undefined) return;
    if (answer.handed) this.#takeOver(settling, next, answer.handed);
    else this.#offer = next;
  }

  /** Its verdict has got through: it was given what only then could be given. */
  #conclude({ of, verdict, at }: Settling): void {
    this.#settling = undefined;
    this.#scene.truth.settled(of, verdict, at);
  }

  #ending(of: ObservedRun, verdict: Verdict): Settling {
    const { local, hurried, truth } = this.#scene;
    const failed = verdict.kind === "retry" || verdict.kind === "terminal";
    const next = failed ? undefined : this.#token();
    const known = new Map(truth.names.map((name) => [name, truth.known(name)]));
    return { of, verdict, at: local + hurried, askedAt: local, next, known };
  }

  #takeOver({ known, askedAt }: Settling, token: string, { key, claim }: Handed): void {
    const before = known.get(key);
    if (!before) throw new Violation(`${key} was handed over, which nobody ever woke`);
    this.#say(`is handed ${key} as ${token}`);
    this.#begin({ key, token, claim, known: before }, askedAt);
  }

  #begin(run: Omit<ObservedRun, "read" | "parts">, heardAt: number): void {
    if (run.claim.copy !== undefined) this.#say(givenACopy);
    if (run.claim.lists !== undefined) this.#say(givenLists);
    this.#run = { of: this.#scene.truth.start(run), heardAt, lost: false };
    this.#write();
  }

  async #claim(key: ObjectKey, token: string): Promise<ClaimAnswer> {
    const answer = await this.#ledger.claim(key, token, this.#version);
    const { truth, local, hurried } = this.#scene;
    if ("claimed" in answer) truth.granted(key, token, answer.claimed, this.#version, local + hurried);
    return answer;
  }

  async #settle({ of, verdict, next, askedAt }: Settling): Promise<SettleAnswer> {
    const taker =
      next === undefined
        ? undefined
        : { token: next, version: this.#version, offeredBy: { worker: this.#box, askedAt } };
    const answer = await this.#ledger.settle(of.key, of.token, verdict, undefined, taker);
    if (answer.kind === "stale") return answer;
    const { truth, local, hurried } = this.#scene;
    truth.reconciled(of, verdict);
    if (taker && answer.handed) {
      const { key, claim } = answer.handed;
      truth.granted(key, taker.token, claim, this.#version, local + hurried);
    }
    return answer;
  }

  /** Time has passed: renew what is held, give up what may have ended. */
  async beat(): Promise<void> {
    if (this.frozen || !this.#run) return; // slots are offered by the schedule
    if (this.#scene.local >= this.#run.heardAt + times.lease - times.renewal) this.#run.lost = true;
    if (!this.#run.lost) await this.#renew();
  }

  async thaw(): Promise<void> {
    this.frozen = false;
    await this.beat();
  }

  /** The process ends; another one takes its place. */
  die(): void {
    this.#claiming = this.#run = this.#settling = this.#offer = undefined;
    this.#lives++;
    this.frozen = false;
    this.#ledger = this.#open();
  }

  async #renew(): Promise<void> {
    if (!this.#run) return;
    const { key, token } = this.#run.of;
    const askedAt = this.#scene.local;
    const lost = await this.#ledger.renew([{ key, token }]);
    if (lost.length > 0) {
      this.#say(`lost its lease on ${key}`);
      this.#run.lost = true;
    } else {
      this.#run.heardAt = askedAt;
    }
  }

  /** Writes as a run does: only while it holds its lease. Answers whether it did. */
  #write(): boolean {
    if (!this.#run || this.#run.lost) return false;
    const until = this.#run.heardAt + Math.min(times.settling, times.lease - times.renewal);
    if (this.#scene.local >= until) return false;
    this.#scene.truth.effect(this.#run.of);
    return true;
  }

  async #alive<T>(what: string, fault: Fault, ask: () => Promise<T>): Promise<T | "unheard" | "dead"> {
    this.#say(`${what}${fault === "none" ? "" : `, ${fault}`}`);
    try {
      return await call(fault, ask);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      this.die();
      return "dead";
    }
  }

  #open(): RedisLedger {
    return this.#scene.open(() => undefined);
  }

  #say(what: string): void {
    this.#scene.say(`${this.#name} ${what}`);
  }
}
