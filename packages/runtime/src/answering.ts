import {
  absentClient,
  ConflictError,
  type Controller,
  type Log,
  messageOf,
  parseObjectKey,
  type ReconcileContext,
  type Resource,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { parseJson, writeJson } from "@drover/json";
import { raceAbort } from "@drover/queue";
import {
  type Call,
  type CallMemory,
  callMemory,
  type CallRefusal,
  CallRefusedError,
  longestMessage,
  receiveCall,
  type Result,
  resultSchema,
  type SentAnswer,
  signed,
  type SignatureHeaders,
} from "@drover/webhook";
import { checkedResult } from "./checked-result.ts";
import { parseLiveObject } from "./live-object.ts";

export interface AnsweringParts<R extends Resource> {
  readonly controller: Controller<R>;
  /** Who we are: `namespace/name` of the ReconcileFunction, and its uid where that is known. */
  readonly audience: { readonly name: string; readonly uid?: string | undefined };
  /** Those that the gateway may sign with; answers are signed with all of them. */
  readonly secrets: () => readonly string[];
  readonly log: Log;
  /** Fires when runs under way must end. */
  readonly stopping?: AbortSignal;
  readonly memory?: CallMemory;
  /** Wall clock, which the gateway's is compared with. */
  readonly now?: () => number;
}

/** A request as it came. */
export interface TakenRequest {
  readonly headers: SignatureHeaders;
  readonly body: Uint8Array;
  /** Called when the call is known to be the gateway's, before it is run. */
  readonly verified?: () => void;
}

/** Refusals are not signed: they decide nothing, and the gateway calls again. */
const statusOf = {
  unverified: 401,
  malformed: 400,
  misdirected: 421,
  expired: 408,
} as const satisfies Readonly<Record<CallRefusal, number>>;

/**
 * A controller that answers the gateway's calls. What is not genuine, not ours, late, or older than what is under way is
 * refused; a call that comes again is answered as before, and not run again; a key never runs twice at once here. Never throws.
 */
export function answering<R extends Resource>(
  parts: AnsweringParts<R>,
): (request: TakenRequest) => Promise<SentAnswer> {
  const { audience, secrets, log, now = Date.now, memory = callMemory(now) } = parts;
  return async ({ headers, body, verified }) => {
    try {
      const received = receiveCall({ headers, body, secrets: secrets(), audience, now: now() });
      verified?.();
      const { call } = received;
      const answer = memory.take({ ...received, body }, async ({ superseded, before }) => {
        const result = await run(parts, call, superseded, before);
        return signedAnswer(result, call.token, secrets(), now());
      });
      return (await answer) ?? signedAnswer(stale, call.token, secrets(), now());
    } catch (error) {
      if (!(error instanceof CallRefusedError)) throw error;
      const { refusal, message, why } = error;
      log.warn({ refusal, why }, "A call was refused");
      return { status: statusOf[refusal], headers: json, body: JSON.stringify({ message }) };
    }
  };
}

const json = { "content-type": "application/json" } as const;

const stale: Result = {
  outcome: "conflict",
  message: "A newer run of this key has begun here, or this one was answered long ago.",
};

/** The status is always 200: the signature does not cover it, so the outcome is in the body. */
function signedAnswer(result: Result, id: string, secrets: readonly string[], at: number): SentAnswer {
  const body = writeJson(result);
  return { status: 200, headers: { ...json, ...signed(secrets, { id, at }, body) }, body };
}

async function run<R extends Resource>(
  parts: AnsweringParts<R>,
  call: Call,
  superseded: AbortSignal,
  before: Promise<unknown>,
): Promise<Result> {
  const { controller, log, stopping, now = Date.now } = parts;
  const over = AbortSignal.timeout(Math.max(1, Math.min(Date.parse(call.deadline) - now(), 2 ** 31 - 1)));
  const signal = AbortSignal.any([over, superseded, ...(stopping ? [stopping] : [])]);
  const begun = performance.now();
  let result: Result;
  try {
    await raceAbort(before, signal);
    const context = contextOf(controller, call, log, signal);
    result = await acted(controller, call, context);
  } catch (error) {
    log.warn({ key: call.key, err: error }, "The run failed");
    result = resultOf(error);
  }
  const { outcome } = result;
  const ms = Math.round(performance.now() - begun);
  const fields = { key: call.key, type: call.type, outcome, ms, why: call.reasons };
  log[outcome === "done" || outcome === "finalized" ? "debug" : "info"](fields, "Answered");
  return result;
}

async function acted<R extends Resource>(
  controller: Controller<R>,
  { type }: Call,
  context: ReconcileContext<R>,
): Promise<Result> {
  if (type === "dev.drover.finalize.v2") {
    await controller.finalize(context);
    context.signal.throwIfAborted();
    return { outcome: "finalized" };
  }
  const returned = await controller.reconcile(context);
  context.signal.throwIfAborted();
  const result = checkedResult(controller.for, returned);
  return resultSchema.parse(parseJson(writeJson({ ...result, outcome: "done" })));
}

/** @throws TerminalError when the spec does not parse: the function never sees it. */
function contextOf<R extends Resource>(
  controller: Controller<R>,
  { key: text, object }: Call,
  log: Log,
  signal: AbortSignal,
): ReconcileContext<R> {
  const parsed = parseLiveObject(controller.for, object);
  if (!parsed.ok) throw new TerminalError(parsed.problem, { reason: "InvalidSpec" });
  const { metadata, spec, status } = parsed.object;
  return {
    key: parseObjectKey(text),
    metadata,
    spec,
    status,
    object,
    log,
    signal,
    client: absentClient(
      () =>
        new TerminalError(
          "A function that is called over HTTP has no way to the cluster: leave out `delivery: webhook`, and it has.",
        ),
    ),
    guard: { beforeWrite: () => signal.throwIfAborted() },
    announce: ({ note, ...announcement }) => log.info({ key: text, ...announcement }, note),
    readSecret: () =>
      Promise.reject(
        new TerminalError("A function that is called has no way to the cluster: mount the Secret instead."),
      ),
  };
}

/** The result that the gateway reads for an error, by its class. */
function resultOf(error: unknown): Result {
  const message = messageOf(error).slice(0, longestMessage);
  if (error instanceof TerminalError) return { outcome: "parked", message, reason: error.reason };
  if (error instanceof ConflictError) return { outcome: "conflict", message };
  if (error instanceof RetryAfterError) {
    return { outcome: "again", after: error.after, message, reason: error.reason };
  }
  if (error instanceof ThrottledError) {
    const { account, after, reason } = error;
    return { outcome: "again", after, message, reason, account };
  }
  return { outcome: "failed", message, ...(error instanceof RetryError && { reason: error.reason }) };
}
