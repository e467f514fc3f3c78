import type { Milliseconds } from "@drover/controller";
import { createHash } from "node:crypto";
import type { ReceivedCall } from "./received-call.ts";
import { tolerance } from "./standard-webhooks.ts";
import type { SentAnswer } from "./sent-answer.ts";

/** The conditions under which a new call runs. */
export interface RunOrdering {
  /** Fires when a newer run of the key has begun: the lease of this run is then over. */
  readonly superseded: AbortSignal;
  /** Resolves when all earlier runs of the key have ended. */
  readonly previousEnded: Promise<unknown>;
}

/**
 * The calls that arrived: none runs twice, none while another run of its key lasts, none after a newer one.
 */
export interface CallHistory {
  /**
   * Returns the answer. For a new call it calls `run` at once; for a repeated call it returns the answer to the first
   * one. Undefined for other calls: a newer run of the key has begun, the call's token came with another body, or the
   * history does not have the call or its answer any more.
   */
  runOnce(
    received: ReceivedCall & { readonly body: Uint8Array },
    run: (ordering: RunOrdering) => Promise<SentAnswer>,
  ): Promise<SentAnswer> | undefined;
}

export interface HistoryLimits {
  readonly calls: number;
  /** Total length of the kept answers' bodies. */
  readonly bytes: number;
}

const defaultLimits: HistoryLimits = { calls: 50_000, bytes: 32 * 2 ** 20 };
/** Time after which a call is removed: a call with such an old timestamp is not verified any more. */
const retention: Milliseconds = 2 * tolerance;

interface Known {
  readonly at: Milliseconds;
  readonly digest: string;
  answer: Promise<SentAnswer> | undefined;
  bytes: number;
}
interface Latest {
  readonly at: Milliseconds;
  readonly version: string;
  readonly superseding: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * A bounded history. A call that is removed to make room is refused from then on, by its timestamp, and never run
 * again.
 * @param now wall clock.
 */
export function callHistory(now: () => Milliseconds, limits: HistoryLimits = defaultLimits): CallHistory {
  const known = new Map<string, Known>();
  const latest = new Map<string, Latest>();
  /** Unknown calls with a timestamp up to this time are refused: they may be removed ones. */
  let floor = 0;
  let bytes = 0;

  const isOver = (one: { readonly at: Milliseconds }): boolean => one.at + retention < now();
  const forget = (token: string, one: Known): void => {
    known.delete(token);
    bytes -= one.bytes;
  };
  const makeRoom = (): void => {
    for (const [token, one] of known) {
      if (!isOver(one) && known.size < limits.calls) break;
      if (!isOver(one)) floor = Math.max(floor, one.at);
      forget(token, one);
    }
    for (const [key, one] of latest) {
      if (!isOver(one) && latest.size < limits.calls) break;
      if (!isOver(one)) floor = Math.max(floor, one.at);
      latest.delete(key);
    }
    for (const one of known.values()) {
      if (bytes <= limits.bytes) break;
      if (one.bytes === 0) continue;
      bytes -= one.bytes;
      [one.bytes, one.answer] = [0, undefined];
    }
  };

  const remember = (token: string, one: Known): void => {
    known.set(token, one);
    one.answer?.then(
      ({ body }) => {
        if (known.get(token) !== one) return;
        one.bytes = body.length;
        bytes += body.length;
      },
      () => undefined,
    );
  };

  return {
    runOnce({ call, at, body }, run) {
      makeRoom();
      const { token, key, object } = call;
      const digest = createHash("sha256").update(body).digest("base64");
      const earlier = known.get(token);
      if (earlier !== undefined) return earlier.digest === digest ? earlier.answer : undefined;
      const before = latest.get(key);
      const version = object.metadata.resourceVersion;
      if (at <= floor || (before && isOlder({ at, version }, before))) return undefined;
      before?.superseding.abort(new SupersededError(key));
      const ending = new AbortController();
      const answer = run({ superseded: ending.signal, previousEnded: before?.ended ?? Promise.resolve() });
      remember(token, { at, digest, answer, bytes: 0 });
      latest.delete(key);
      // A call that is superseded while it waits has ended, but the run that it waited for may continue.
      const ended = Promise.allSettled([before?.ended, answer]).then(() => undefined);
      latest.set(key, { at, version, superseding: ending, ended });
      return answer;
    },
  };
}

/** A newer run of the key has begun, so the lease of this run is over. */
export class SupersededError extends Error {
  override readonly name = "SupersededError";
  constructor(key: string) {
    super(`A newer run of ${key} has begun; this one must stop.`);
  }
}

/**
 * True if a call was made before another call of its key. Each call contains the object as it was then, so
 * the lower resourceVersion is older. If the versions do not decide it, the timestamps do: by the gateways' clocks, to
 * the second. A call that is refused wrongly is soon repeated.
 */
function isOlder(call: Pick<Latest, "at" | "version">, than: Pick<Latest, "at" | "version">): boolean {
  const order = versionOrder(call.version, than.version);
  return order === 0 ? call.at < than.at : order < 0;
}

/** Negative if the first is older; 0 if they are equal or cannot be compared. */
function versionOrder(a: string, b: string): number {
  if (!/^[1-9]\d*$/.test(a) || !/^[1-9]\d*$/.test(b) || a === b) return 0;
  return a.length === b.length ? (a < b ? -1 : 1) : a.length - b.length;
}
