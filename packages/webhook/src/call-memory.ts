import type { Milliseconds } from "@drover/controller";
import { createHash } from "node:crypto";
import type { ReceivedCall } from "./received-call.ts";
import { tolerance } from "./standard-webhooks.ts";

/** What a function answered. */
export interface SentAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A call that nobody has run yet. */
export interface Turn {
  /** Fires when a newer run of the key has begun: the lease of this one is over. */
  readonly superseded: AbortSignal;
  /** Resolves when no earlier run of the key goes on. */
  readonly before: Promise<unknown>;
}

/** Which calls came, so that none runs twice, none beside another one of its key, and none after a newer one. */
export interface CallMemory {
  /**
   * The answer: of `run`, which is called at once where the call is new, or what was or will be answered to the same
   * call. Undefined for a call that is neither: a newer run of its key has begun, or it is not known any more whether it
   * came.
   */
  take(
    received: ReceivedCall & { readonly body: Uint8Array },
    run: (turn: Turn) => Promise<SentAnswer>,
  ): Promise<SentAnswer> | undefined;
}

export interface MemoryLimits {
  readonly calls: number;
  /** Of all answers that are kept. */
  readonly bytes: number;
}

const usual: MemoryLimits = { calls: 50_000, bytes: 32 * 2 ** 20 };
/** A call that is older, or was sent by a clock so far ahead, is not verified any more. */
const keptFor: Milliseconds = 2 * tolerance;

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
 * Bounded: what is forgotten for want of room is refused from then on, by its time, never run again.
 * @param now wall clock.
 */
export function callMemory(now: () => Milliseconds, limits: MemoryLimits = usual): CallMemory {
  const known = new Map<string, Known>();
  const latest = new Map<string, Latest>();
  /** Unknown calls that were sent until then may be forgotten ones. */
  let floor = 0;
  let bytes = 0;

  const isOver = (one: { readonly at: Milliseconds }): boolean => one.at + keptFor < now();
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
    take({ call, at, body }, run) {
      makeRoom();
      const { token, key, object } = call;
      const digest = createHash("sha256").update(body).digest("base64");
      const earlier = known.get(token);
      if (earlier !== undefined) return earlier.digest === digest ? earlier.answer : undefined;
      const before = latest.get(key);
      const version = object.metadata.resourceVersion;
      if (at <= floor || (before && isOlder({ at, version }, before))) return undefined;
      before?.superseding.abort(new SupersededError(key));
      const superseding = new AbortController();
      const answer = run({ superseded: superseding.signal, before: before?.ended ?? Promise.resolve() });
      remember(token, { at, digest, answer, bytes: 0 });
      latest.delete(key);
      // One that is superseded while it waits has ended, and the one that it waited for may go on.
      const ended = Promise.allSettled([before?.ended, answer]).then(() => undefined);
      latest.set(key, { at, version, superseding, ended });
      return answer;
    },
  };
}

/** A newer run of the key has begun: the lease of this one is over. */
export class SupersededError extends Error {
  override readonly name = "SupersededError";
  constructor(key: string) {
    super(`A newer run of ${key} has begun; this one must stop.`);
  }
}

/**
 * Whether a call was made before another one of its key. Each reads the object anew, so a lower version tells; the time
 * where it does not: by gateways' clocks, to the second. Who is refused wrongly is called again soon.
 */
function isOlder(call: Pick<Latest, "at" | "version">, than: Pick<Latest, "at" | "version">): boolean {
  const order = versionOrder(call.version, than.version);
  return order === 0 ? call.at < than.at : order < 0;
}

/** Negative when the first is older; 0 also when nobody can tell. */
function versionOrder(a: string, b: string): number {
  if (!/^[1-9]\d*$/.test(a) || !/^[1-9]\d*$/.test(b) || a === b) return 0;
  return a.length === b.length ? (a < b ? -1 : 1) : a.length - b.length;
}
