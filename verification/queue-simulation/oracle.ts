import { objectKey, type ObjectKey } from "@drover/controller";
import type { Claim, PauseScope, RunOutcome } from "../../packages/queue/src/work-queue/work-queue.ts";
import { account, keys, parts } from "./schedule.ts";

/** The queue broke a promise. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** A run as the world sees it. */
export interface ObservedRun {
  readonly key: ObjectKey;
  readonly token: string;
  readonly claim: Claim;
  /** The version that it read when it started, live or from the cached object. */
  readonly read: number;
  /** The versions of its parts that it knows, live or from the lists that it was given, and of its own making. */
  readonly parts: number[];
  /** What was known when the key was claimed, which may be before the answer came. */
  readonly known: Knowledge;
}

type Granted = Pick<ObservedRun, "key" | "token" | "claim" | "known">;

export interface Knowledge {
  /** Wakes of the key that had reached Redis, or may have. */
  readonly wakes: number;
  /** Losses of data that had happened. */
  readonly losses: number;
  /** When the account opens that was known to be closed, as `now` counts; some time gone by where none was. */
  readonly closedUntil: number;
}

/** A version of a key's object. */
export interface Version {
  readonly version: number;
  readonly uid: number;
}

interface PartTruth {
  version: number;
  /** The highest version that the ledger was told of, and has answered, whatever was lost since. */
  told: number;
  /** The version that a run made last. */
  written: number;
}

interface KeyTruth {
  readonly parts: readonly PartTruth[];
  version: number;
  uid: number;
  /** The version that somebody else than a run made last. */
  changed: number;
  /** The version that a run made last. */
  written: number;
  /** The highest version that the ledger was told of, and has answered. */
  told: number;
  /** The highest version that a run has read which ended as it wished. */
  reconciled: number;
  /** The highest version that a run has read which was settled, as whatever. */
  tried: number;
  wakes: number;
  /** Time, counted with the clock's steps forward, before which no run may start, unless something was heard or may be. */
  quietUntil: number;
  /** Runs in a row that failed and were told the same number of failures. */
  failures: { told: number; runs: number };
  account: boolean;
  /** The version of the function that ran it last. */
  ranBy: number;
  effectOf: string | undefined;
  readonly superseded: Set<string>;
}

/**
 * What really happened, kept by the simulation and not by the queue: changes committed, wakes sent, runs started, what
 * they wrote. Each promise is checked against it.
 */
export class Truth {
  readonly names: readonly ObjectKey[] = Array.from({ length: keys }, (_, i) =>
    objectKey({ namespace: i % 2 === 0 ? "a" : "b", name: `k${i}` }),
  );
  readonly scopes: readonly PauseScope[] = [
    { kind: "controller" },
    { kind: "namespace", namespace: "a" },
    { kind: "object", key: this.names[1] as ObjectKey },
  ];
  losses = 0;
  #partChanges = 0;
  /** Of a token more than one, where an answer was lost for longer than a lease: only one of them starts. */
  #granted = new Set<string>();
  #started = new Set<string>();
  #paused = new Set<number>();
  #closedUntil = 0;
  readonly #versions = new Map<string, { readonly version: number; readonly until: number }>();
  #of = new Map<ObjectKey, KeyTruth>(
    this.names.map((name) => [
      name,
      {
        parts: Array.from({ length: parts }, () => ({ version: 0, told: 0, written: 0 })),
        version: 0,
        uid: 0,
        changed: 0,
        written: 0,
        told: 0,
        reconciled: 0,
        tried: 0,
        wakes: 0,
        quietUntil: Infinity,
        failures: { told: -1, runs: 0 },
        account: false,
        ranBy: 0,
        effectOf: undefined,
        superseded: new Set<string>(),
      },
    ]),
  );

  of(key: ObjectKey): KeyTruth {
    const truth = this.#of.get(key);
    if (!truth) throw new Violation(`${key} was dispatched, which nobody ever woke`);
    return truth;
  }

  change(key: ObjectKey, recreate: boolean): void {
    const truth = this.of(key);
    truth.changed = ++truth.version;
    if (recreate) truth.uid++;
  }

  /** Answers the version that it has since. */
  changePart(key: ObjectKey, part: number): number {
    return (this.part(key, part).version = ++this.#partChanges);
  }

  part(key: ObjectKey, part: number): PartTruth {
    const found = this.of(key).parts[part];
    if (!found) throw new Violation(`${key} has no part ${part}`);
    return found;
  }

  toldPart(key: ObjectKey, part: number, version: number): void {
    const truth = this.part(key, part);
    truth.told = Math.max(truth.told, version);
  }

  /** A wake may reach Redis from now on: a run is justified. */
  heard(key: ObjectKey): void {
    const truth = this.of(key);
    truth.wakes++;
    truth.quietUntil = 0;
  }

  /** What is known of the queue's data is known no more. */
  dataLost(): void {
    this.losses++;
    this.#paused.clear();
    this.#closedUntil = 0;
    for (const truth of this.#of.values()) {
      truth.quietUntil = 0;
      truth.failures = { told: -1, runs: 0 };
      truth.account = false;
      truth.ranBy = 0;
      truth.told = 0;
    }
    this.#versions.clear();
  }

  paused(scope: number, on: boolean): void {
    if (on) this.#paused.add(scope);
    else this.#paused.delete(scope);
  }

  known(key: ObjectKey): Knowledge {
    return { wakes: this.of(key).wakes, losses: this.losses, closedUntil: this.#closedUntil };
  }

  /** A worker is here until then, of this version; undefined when it went. */
  registered(worker: string, here: { readonly version: number; readonly until: number } | undefined): void {
    if (here === undefined) this.#versions.delete(worker);
    else this.#versions.set(worker, here);
  }

  /** The ledger has taken a wake, and has answered. */
  told(key: ObjectKey, version: number): void {
    const truth = this.of(key);
    truth.told = Math.max(truth.told, version);
  }

  /** The ledger gave a key to a token, whether or not its answer arrives. `known` was read before the ledger was called. */
  granted({ key, token, claim, known }: Granted, version: number, now: number): void {
    const grant = `${key} to ${token}`;
    if (this.#granted.has(grant)) return; // asked again
    this.#granted.add(grant);
    const truth = this.of(key);
    const cached = cachedVersionIn(claim);
    if (cached !== undefined && cached < Math.max(truth.written, truth.told)) {
      throw new Violation(
        `${key} got a cached object of version ${cached}; the ledger had acknowledged version ${truth.told}, and a run had written ${truth.written}`,
      );
    }
    partsIn(claim)?.forEach((cached, part) => {
      const { told, written } = this.part(key, part);
      if (cached < Math.max(told, written))
        throw new Violation(
          `${key} got version ${cached} of part ${part}; the ledger had acknowledged version ${told}, and a run had written ${written}`,
        );
    });
    for (const scope of this.#paused) {
      if (this.#covers(scope, key)) throw new Violation(`${key} runs though it is paused`);
    }
    // Answers may come in another order than Redis gave them: what closed meanwhile may have closed after this.
    if (truth.account && now < Math.min(known.closedUntil, this.#closedUntil))
      throw new Violation(`${key} runs though its account is closed`);
    if (now < truth.quietUntil)
      throw new Violation(`${key} runs though nothing was heard and no time had come`);
    const isHere = (than: number): boolean =>
      [...this.#versions.values()].some(({ version: alive, until }) => alive >= than && now < until);
    if (version < truth.ranBy && isHere(truth.ranBy)) {
      throw new Violation(`${key} went back from version ${truth.ranBy} to ${version}`);
    }
    truth.ranBy = version === 0 ? truth.ranBy : version;
    truth.quietUntil = 0;
  }

  /** A worker starts the run that it was granted. */
  start(run: Omit<ObservedRun, "read" | "parts">): ObservedRun {
    if (this.#started.has(run.token)) throw new Violation(`token ${run.token} was handed out twice`);
    this.#started.add(run.token);
    const live = this.of(run.key);
    return {
      ...run,
      read: cachedVersionIn(run.claim) ?? live.version,
      parts: partsIn(run.claim) ?? live.parts.map(({ version }) => version),
    };
  }

  /** A run writes to its object, and hears which version that made. */
  wrote(run: ObservedRun): Version {
    const truth = this.of(run.key);
    truth.written = ++truth.version;
    if (truth.version % 2 === 0) this.#writePart(run, truth.version % parts);
    return { version: truth.written, uid: truth.uid };
  }

  #writePart({ key, parts: known }: ObservedRun, part: number): void {
    const version = this.changePart(key, part);
    this.part(key, part).written = known[part] = version;
  }

  /** A run writes, having made sure that it holds its lease. */
  effect({ key, token }: ObservedRun): void {
    const truth = this.of(key);
    if (truth.superseded.has(token))
      throw new Violation(`${token} writes to ${key}, after ${truth.effectOf} did`);
    if (truth.effectOf !== undefined && truth.effectOf !== token) truth.superseded.add(truth.effectOf);
    truth.effectOf = token;
  }

  /** The ledger took a outcome, whether or not the worker hears of it. */
  reconciled({ key, read }: ObservedRun, { kind }: RunOutcome): void {
    const truth = this.of(key);
    truth.tried = Math.max(truth.tried, read);
    if (["done", "gone", "terminal"].includes(kind)) truth.reconciled = Math.max(truth.reconciled, read);
    if (kind === "gone") {
      truth.account = false;
      truth.ranBy = 0;
    }
  }

  /** The worker heard that the ledger took its outcome. */
  settled(run: ObservedRun, outcome: RunOutcome, now: number): void {
    const truth = this.of(run.key);
    const surely = run.known.losses === this.losses;
    const quiet = surely && run.known.wakes === truth.wakes;
    if (outcome.kind === "done" || outcome.kind === "gone" || outcome.kind === "terminal") {
      const after = outcome.kind === "done" ? outcome.after : undefined;
      if (quiet) truth.quietUntil = after === undefined ? Infinity : now + after;
    } else if (outcome.kind === "wait" && quiet) {
      truth.quietUntil = now + outcome.after;
    } else {
      truth.quietUntil = 0;
    }
    if (surely && "account" in outcome && outcome.account === account) truth.account = true;
    if (surely && outcome.kind === "throttled")
      this.#closedUntil = Math.max(this.#closedUntil, now + outcome.after);
    this.#countFailure(truth, run, outcome);
  }

  #countFailure(truth: KeyTruth, run: ObservedRun, outcome: RunOutcome): void {
    if (outcome.kind !== "retry" || outcome.after !== undefined) {
      truth.failures = { told: -1, runs: 0 };
      return;
    }
    const again = truth.failures.told === run.claim.fails;
    truth.failures = { told: run.claim.fails, runs: again ? truth.failures.runs + 1 : 1 };
    if (truth.failures.runs > 2 && run.known.losses === this.losses) {
      throw new Violation(`${run.key} failed ${truth.failures.runs} times within one window of backoff`);
    }
  }

  /** Forced or made anew: what was counted of failures counts no more. */
  forgetFailures(key: ObjectKey): void {
    this.of(key).failures = { told: -1, runs: 0 };
  }

  /**
   * Nothing goes wrong any more and nothing is left to do: every change was seen, and those keys alone were given up on
   * that have failed with it as often as their author allows.
   */
  converged(parked: ReadonlySet<ObjectKey>): void {
    for (const [key, truth] of this.#of) {
      if ((parked.has(key) ? truth.tried : truth.reconciled) < truth.changed) {
        throw new Violation(
          `${key} changed to ${truth.changed}, and no run has read more than ${truth.reconciled}`,
        );
      }
    }
  }

  #covers(scope: number, key: ObjectKey): boolean {
    const of = this.scopes[scope];
    if (of?.kind === "object") return of.key === key;
    return of?.kind === "controller" || key.startsWith(`${of?.namespace ?? ""}/`);
  }
}

/** The version of the cached object that goes with a claim, if one does. */
const cachedVersionIn = ({ cachedObject }: Claim): number | undefined =>
  cachedObject === undefined ? undefined : Number(cachedObject);

/** The versions of parts by the lists that go with a claim, and what was told since, if there are any. */
function partsIn({ cachedLists }: Claim): number[] | undefined {
  if (cachedLists === undefined) return undefined;
  const known = JSON.parse(cachedLists.stored) as number[];
  for (const each of cachedLists.deltas) {
    const { part, version } = JSON.parse(each) as { readonly part: number; readonly version: number };
    known[part] = Math.max(known[part] ?? 0, version);
  }
  return known;
}
