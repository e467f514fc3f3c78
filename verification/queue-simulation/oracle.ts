import { objectKey, type ObjectKey } from "@drover/controller";
import type { Claim, PauseScope, RunOutcome } from "../../packages/queue/src/work-queue/work-queue.ts";
import { account, keys, parts } from "./schedule.ts";

/** The queue broke a promise. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** A run as the oracle sees it. */
export interface ObservedRun {
  readonly key: ObjectKey;
  readonly token: string;
  readonly claim: Claim;
  /** The version that it read when it started, live or from the cached object. */
  readonly read: number;
  /** The versions of its parts that it knows, live or from the lists that it was given, and of its own making. */
  readonly parts: number[];
  /** The knowledge when the key was claimed, which may be before the answer came. */
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

interface PartState {
  version: number;
  /** The highest version that the ledger has acknowledged, whatever was lost since. */
  acknowledged: number;
  /** The version that a run made last. */
  written: number;
  /** The highest version that a run with a final outcome has known. */
  reconciled: number;
}

interface KeyState {
  readonly parts: readonly PartState[];
  version: number;
  uid: number;
  /** The version at which the object with that uid was created. */
  createdAt: number;
  /** The uids of the objects for which runs have begun. */
  readonly begun: Set<string>;
  /** The last version that was not made by a run. */
  changed: number;
  /** The version that a run made last. */
  written: number;
  /** The highest version that the ledger has acknowledged. */
  acknowledged: number;
  /** The highest version that a run has read which ended as it wished. */
  reconciled: number;
  /** The highest version that a run has read which was settled, as whatever. */
  tried: number;
  wakes: number;
  /** Time, counted with the clock's steps forward, before which no run may start, unless a wake reached Redis or may have. */
  quietUntil: number;
  /** Failed runs in a row that got the same number of failures from the ledger. */
  failures: { counted: number; runs: number };
  account: boolean;
  /** The version of the function that ran it last. */
  ranBy: number;
  effectOf: string | undefined;
  readonly superseded: Set<string>;
}

/**
 * The truth, kept by the simulation and not by the queue: changes committed, wakes sent, runs started, what
 * they wrote. Each promise is checked against it.
 */
export class Oracle {
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
  /** A token may get more than one, if an answer was lost for longer than a lease: only one of them starts. */
  #granted = new Set<string>();
  #started = new Set<string>();
  #paused = new Set<number>();
  #closedUntil = 0;
  readonly #versions = new Map<string, { readonly version: number; readonly until: number }>();
  #of = new Map<ObjectKey, KeyState>(
    this.names.map((name) => [
      name,
      {
        parts: Array.from({ length: parts }, () => ({
          version: 0,
          acknowledged: 0,
          written: 0,
          reconciled: 0,
        })),
        version: 0,
        uid: 0,
        createdAt: 0,
        begun: new Set<string>(),
        changed: 0,
        written: 0,
        acknowledged: 0,
        reconciled: 0,
        tried: 0,
        wakes: 0,
        quietUntil: Infinity,
        failures: { counted: -1, runs: 0 },
        account: false,
        ranBy: 0,
        effectOf: undefined,
        superseded: new Set<string>(),
      },
    ]),
  );

  of(key: ObjectKey): KeyState {
    const state = this.#of.get(key);
    if (!state) throw new Violation(`${key} was dispatched, which was never woken`);
    return state;
  }

  change(key: ObjectKey, recreate: boolean): void {
    const state = this.of(key);
    state.changed = ++state.version;
    if (recreate) state.uid++;
    if (recreate || state.version === 1) state.createdAt = state.version;
  }

  /** Answers the version that it has since. */
  changePart(key: ObjectKey, part: number): number {
    return (this.part(key, part).version = ++this.#partChanges);
  }

  part(key: ObjectKey, part: number): PartState {
    const found = this.of(key).parts[part];
    if (!found) throw new Violation(`${key} has no part ${part}`);
    return found;
  }

  acknowledgedPart(key: ObjectKey, part: number, version: number): void {
    const state = this.part(key, part);
    state.acknowledged = Math.max(state.acknowledged, version);
  }

  /** A wake may reach Redis from now on: a run is justified. */
  wakeSent(key: ObjectKey): void {
    const state = this.of(key);
    state.wakes++;
    state.quietUntil = 0;
  }

  /** Redis lost data: what was known of it is forgotten. */
  dataLost(): void {
    this.losses++;
    this.#paused.clear();
    this.#closedUntil = 0;
    for (const state of this.#of.values()) {
      state.quietUntil = 0;
      state.failures = { counted: -1, runs: 0 };
      state.account = false;
      state.ranBy = 0;
      state.acknowledged = 0;
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
  acknowledged(key: ObjectKey, version: number): void {
    const state = this.of(key);
    state.acknowledged = Math.max(state.acknowledged, version);
  }

  /** The ledger gave a key to a token, whether or not its answer arrives. `known` was read before the ledger was called. */
  granted({ key, token, claim, known }: Granted, version: number, now: number): void {
    const grant = `${key} to ${token}`;
    if (this.#granted.has(grant)) return; // asked again
    this.#granted.add(grant);
    const state = this.of(key);
    if (claim.isFirst && state.begun.has(claim.uid ?? ""))
      throw new Violation(`${key} got a first run of ${claim.uid}, of which a run had begun`);
    const cached = cachedVersionIn(claim);
    if (cached !== undefined && cached < Math.max(state.written, state.acknowledged)) {
      throw new Violation(
        `${key} got a cached object of version ${cached}; the ledger had acknowledged version ${state.acknowledged}, and a run had written ${state.written}`,
      );
    }
    partsIn(claim)?.forEach((cached, part) => {
      const { acknowledged, written } = this.part(key, part);
      if (cached < Math.max(acknowledged, written))
        throw new Violation(
          `${key} got version ${cached} of part ${part}; the ledger had acknowledged version ${acknowledged}, and a run had written ${written}`,
        );
    });
    for (const scope of this.#paused) {
      if (this.#covers(scope, key)) throw new Violation(`${key} runs though it is paused`);
    }
    // Answers may come in another order than Redis gave them: what closed meanwhile may have closed after this.
    if (state.account && now < Math.min(known.closedUntil, this.#closedUntil))
      throw new Violation(`${key} runs though its account is closed`);
    if (now < state.quietUntil) throw new Violation(`${key} runs without a wake, before its time`);
    const isHere = (than: number): boolean =>
      [...this.#versions.values()].some(({ version: alive, until }) => alive >= than && now < until);
    if (version < state.ranBy && isHere(state.ranBy)) {
      throw new Violation(`${key} went back from version ${state.ranBy} to ${version}`);
    }
    state.ranBy = version === 0 ? state.ranBy : version;
    state.quietUntil = 0;
  }

  /** A worker starts the run that it was granted. */
  start(run: Omit<ObservedRun, "read" | "parts">): ObservedRun {
    if (this.#started.has(run.token)) throw new Violation(`token ${run.token} was handed out twice`);
    this.#started.add(run.token);
    const live = this.of(run.key);
    for (const uid of [run.claim.uid, `u${live.uid}`]) if (uid !== undefined) live.begun.add(uid);
    return {
      ...run,
      read: cachedVersionIn(run.claim) ?? live.version,
      parts: partsIn(run.claim) ?? live.parts.map(({ version }) => version),
    };
  }

  /** A run writes to its object, and gets the version that this made. */
  wrote(run: ObservedRun): Version {
    const state = this.of(run.key);
    state.written = ++state.version;
    if (state.version % 2 === 0) this.#writePart(run, state.version % parts);
    return { version: state.written, uid: state.uid };
  }

  #writePart({ key, parts: known }: ObservedRun, part: number): void {
    const version = this.changePart(key, part);
    this.part(key, part).written = known[part] = version;
  }

  /** A run writes, having made sure that it holds its lease. */
  effect({ key, token }: ObservedRun): void {
    const state = this.of(key);
    if (state.superseded.has(token))
      throw new Violation(`${token} writes to ${key}, after ${state.effectOf} did`);
    if (state.effectOf !== undefined && state.effectOf !== token) state.superseded.add(state.effectOf);
    state.effectOf = token;
  }

  /** The ledger took an outcome, whether or not its answer arrives. */
  reconciled({ key, read, parts: known }: ObservedRun, { kind }: RunOutcome): void {
    const state = this.of(key);
    state.tried = Math.max(state.tried, read);
    if (["done", "gone", "terminal"].includes(kind)) {
      state.reconciled = Math.max(state.reconciled, read);
      known.forEach((version, part) => {
        const one = this.part(key, part);
        one.reconciled = Math.max(one.reconciled, version);
      });
    }
    if (kind === "gone") {
      state.account = false;
      state.ranBy = 0;
    }
  }

  /** The worker got the answer that the ledger took its outcome. */
  settled(run: ObservedRun, outcome: RunOutcome, now: number): void {
    const state = this.of(run.key);
    const surely = run.known.losses === this.losses;
    const quiet = surely && run.known.wakes === state.wakes;
    if (outcome.kind === "done" || outcome.kind === "gone" || outcome.kind === "terminal") {
      const after = outcome.kind === "done" ? outcome.after : undefined;
      if (quiet) state.quietUntil = after === undefined ? Infinity : now + after;
    } else if (outcome.kind === "wait" && quiet) {
      state.quietUntil = now + outcome.after;
    } else {
      state.quietUntil = 0;
    }
    if (surely && "account" in outcome && outcome.account === account) state.account = true;
    if (surely && outcome.kind === "throttled")
      this.#closedUntil = Math.max(this.#closedUntil, now + outcome.after);
    this.#countFailure(state, run, outcome);
  }

  #countFailure(state: KeyState, run: ObservedRun, outcome: RunOutcome): void {
    if (outcome.kind !== "retry" || outcome.after !== undefined) {
      state.failures = { counted: -1, runs: 0 };
      return;
    }
    const again = state.failures.counted === run.claim.fails;
    state.failures = { counted: run.claim.fails, runs: again ? state.failures.runs + 1 : 1 };
    if (state.failures.runs > 2 && run.known.losses === this.losses) {
      throw new Violation(`${run.key} failed ${state.failures.runs} times within one window of backoff`);
    }
  }

  /** Forced or recreated: the failures are counted from 0. */
  forgetFailures(key: ObjectKey): void {
    this.of(key).failures = { counted: -1, runs: 0 };
  }

  /**
   * Nothing goes wrong any more and nothing is left to do: every change was seen, and those keys alone were given up on
   * that have failed with it as often as their author allows.
   */
  converged(parked: ReadonlySet<ObjectKey>): void {
    for (const [key, state] of this.#of) {
      if ((parked.has(key) ? state.tried : state.reconciled) < state.changed) {
        throw new Violation(
          `${key} changed to ${state.changed}, and no run has read more than ${state.reconciled}`,
        );
      }
      for (const { version, reconciled } of parked.has(key) ? [] : state.parts) {
        if (reconciled < version)
          throw new Violation(
            `a part of ${key} changed to ${version}, and no run has known more than ${reconciled}`,
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

/** The versions of parts by the lists and deltas that go with a claim; undefined if there are none. */
function partsIn({ cachedLists }: Claim): number[] | undefined {
  if (cachedLists === undefined) return undefined;
  const known = JSON.parse(cachedLists.stored) as number[];
  for (const each of cachedLists.deltas) {
    const { part, version } = JSON.parse(each) as { readonly part: number; readonly version: number };
    known[part] = Math.max(known[part] ?? 0, version);
  }
  return known;
}
