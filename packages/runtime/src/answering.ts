import {
  ConflictError,
  type Controller,
  type Log,
  milliseconds,
  parseObjectKey,
  type ReconcileContext,
  type Resource,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import {
  type Answer,
  answerSchema,
  type Call,
  type CallMemory,
  callMemory,
  type CallRefusal,
  CallRefusedError,
  type Failure,
  receiveCall,
  type SentAnswer,
  signed,
  type SignatureHeaders,
} from "@drover/webhook";
import { parseLiveObject } from "./live-object.ts";
import { unlessAborted } from "./unless-aborted.ts";

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
}

/** The gateway goes by these: only 400 says that the object is at fault. */
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
  return async ({ headers, body }) => {
    try {
      const received = receiveCall({ headers, body, secrets: secrets(), audience, now: now() });
      const { call } = received;
      const answer = memory.take({ ...received, body }, async ({ superseded, before }) => {
        const said = await run(parts, call, superseded, before);
        return signedAnswer(said, call.token, secrets(), now());
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

/** What is answered, before it is signed. */
interface Said {
  readonly status: number;
  readonly body: Answer | Failure;
  readonly retryAfter?: string;
}

const json = { "content-type": "application/json" } as const;

const stale: Said = {
  status: 409,
  body: { message: "A newer run of this key has begun here, or this one was answered long ago." },
};

function signedAnswer(
  { status, body, retryAfter }: Said,
  id: string,
  secrets: readonly string[],
  at: number,
): SentAnswer {
  const text = JSON.stringify(body);
  const wait = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return { status, headers: { ...json, ...wait, ...signed(secrets, { id, at }, text) }, body: text };
}

async function run<R extends Resource>(
  parts: AnsweringParts<R>,
  call: Call,
  superseded: AbortSignal,
  before: Promise<unknown>,
): Promise<Said> {
  const { controller, log, stopping, now = Date.now } = parts;
  const over = AbortSignal.timeout(Math.max(1, Math.min(Date.parse(call.deadline) - now(), 2 ** 31 - 1)));
  const signal = AbortSignal.any([over, superseded, ...(stopping ? [stopping] : [])]);
  const begun = performance.now();
  let said: Said;
  try {
    await unlessAborted(before, signal);
    const context = contextOf(controller, call, log, signal);
    said = { status: 200, body: await acted(controller, call, context) };
  } catch (error) {
    log.warn({ key: call.key, err: error }, "The run did not get there");
    said = saidOf(error);
  }
  const ms = Math.round(performance.now() - begun);
  const fields = { key: call.key, type: call.type, status: said.status, ms, why: call.reasons };
  log[said.status === 200 ? "debug" : "info"](fields, "Answered");
  return said;
}

async function acted<R extends Resource>(
  controller: Controller<R>,
  { type }: Call,
  context: ReconcileContext<R>,
): Promise<Answer> {
  if (type === "dev.drover.finalize.v1") {
    await controller.finalize(context);
    context.signal.throwIfAborted();
    return { finalized: true };
  }
  const result = (await controller.reconcile(context)) ?? {};
  context.signal.throwIfAborted();
  return answerSchema.parse(JSON.parse(JSON.stringify(result)));
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
    ...{ metadata, spec, status, object, log, signal },
    guard: { beforeWrite: () => signal.throwIfAborted() },
    announce: ({ note, ...announcement }) => log.info({ key: text, ...announcement }, note),
    readSecret: () =>
      Promise.reject(
        new TerminalError("A function that is called has no way to the cluster: mount the Secret instead."),
      ),
  };
}

/** What was thrown, as the gateway understands it. */
function saidOf(error: unknown): Said {
  const body = bodyOf(error);
  if (error instanceof TerminalError) return { status: 422, body };
  if (error instanceof ConflictError) return { status: 409, body };
  if (error instanceof RetryAfterError) return { status: 503, body, retryAfter: secondsOf(error.after) };
  if (error instanceof ThrottledError) {
    return { status: 429, body: { ...body, account: error.account }, retryAfter: secondsOf(error.after) };
  }
  return { status: 500, body };
}

const secondsOf = (after: string): string => String(Math.ceil(milliseconds(after) / 1_000));

function bodyOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const hasReason =
    error instanceof TerminalError ||
    error instanceof RetryAfterError ||
    error instanceof ThrottledError ||
    error instanceof RetryError;
  return hasReason ? { message, reason: error.reason } : { message };
}
