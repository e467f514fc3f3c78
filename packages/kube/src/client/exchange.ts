import type { Milliseconds } from "@drover/controller";
import { type Timers, sleep } from "@drover/timers";
import type { ReadOptions, RequestOptions } from "./client.ts";
import { ApiError, ConnectionError, isApiError } from "../errors.ts";
import { acceptedJson } from "./reply.ts";
import type { RequestShape } from "./request-shape.ts";
import type { Transport } from "../transport/transport.ts";
import type { SendGuard } from "./write-guard.ts";

export interface ClientParts {
  readonly transport: Transport;
  readonly requestTimeout: Milliseconds;
  readonly fieldManager: string;
  readonly timers: Timers;
}

/** Largest body of a reply, in bytes. etcd takes objects of 1.5 MiB by default; a page has at most 500 of them. */
const longestBody = { object: 16 * 1024 * 1024, list: 64 * 1024 * 1024 };
const retries = { read: 2, write: 2 };

/** Sends a request that changes nothing, and returns the JSON of the reply. */
export function read(parts: ClientParts, shape: RequestShape, options: ReadOptions): Promise<unknown> {
  const rule = { of: "read", most: options.retries ?? retries.read, timers: parts.timers } as const;
  return withRetries({ ...rule, signal: options.signal }, () => exchange(parts, shape, options));
}

/** Sends a request that changes something. `beforeSend` is called before each attempt. */
export function write(
  parts: ClientParts,
  beforeSend: SendGuard,
  shape: RequestShape,
  options: RequestOptions,
): Promise<unknown> {
  const rule = { of: "write", most: retries.write, timers: parts.timers } as const;
  return withRetries({ ...rule, signal: options.signal }, () => exchange(parts, shape, options, beforeSend));
}

async function exchange(
  { transport, requestTimeout }: ClientParts,
  shape: RequestShape,
  { signal, timeout = requestTimeout }: RequestOptions,
  beforeSend?: SendGuard,
): Promise<unknown> {
  return acceptedJson(
    await transport.request({ ...shape, signal, timeout, beforeSend }, longestBody[shape.reply]),
  );
}

/** `otherwise` if the server answers that the object does not exist. */
export async function unlessAbsent<T>(otherwise: T, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isApiError(error, "NotFound")) return otherwise;
    throw error;
  }
}

interface RetryRule {
  /** Most repeats of a call. */
  readonly most: number;
  /** Reads are repeated after any failure that may pass; writes only if the server has reported that it did nothing. */
  readonly of: "read" | "write";
  readonly timers: Timers;
  readonly signal: AbortSignal | undefined;
}

/** A longer Retry-After is left to the caller, which has a queue for the work. */
const longestWait: Milliseconds = 5_000;

const firstWait: Milliseconds = 100;

/** Makes a call, and repeats it while the rule allows, never within a Retry-After. */
async function withRetries<T>(rule: RetryRule, call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries >= rule.most || !isRetriable(rule.of, error)) throw error;
      const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
      if (asked > longestWait) throw error;
      // Jitter is added: the wait is never shorter than requested.
      const span = Math.max(asked, firstWait * 2 ** tries) * (1 + Math.random() / 2);
      await sleep(rule.timers, span, "retry", rule.signal);
    }
  }
}

function isRetriable(of: "read" | "write", error: unknown): boolean {
  if (error instanceof ConnectionError) return of === "read" && error.code !== "TIMEOUT";
  if (!(error instanceof ApiError)) return false;
  if (error.kind === "TooManyRequests") return true;
  return of === "read" && (error.kind === "ServerError" || error.kind === "Timeout");
}
