import { raceAbort } from "@drover/timers";
import {
  composeContext,
  unavailableClient,
  ConflictError,
  type Controller,
  type Log,
  messageOf,
  observedObjects,
  parseObjectKey,
  type ReconcileContext,
  type Resource,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { parseJson, writeJson } from "@drover/json";
import {
  type Call,
  type CallHistory,
  callHistory,
  maxMessageLength,
  MessageRefusedError,
  receiveCall,
  refusalAnswer,
  type Result,
  resultSchema,
  type SentAnswer,
  signMessage,
  type SignatureHeaders,
} from "@drover/webhook";
import { z } from "zod";
import { checkedResult } from "../schema/checked-result.ts";
import { parseObject } from "../schema/parse-object.ts";

export interface WebhookHandlerOptions<R extends Resource> {
  readonly controller: Controller<R>;
  /** This function: `namespace/name` of its ReconcileFunction, and its uid if that is known. */
  readonly audience: { readonly name: string; readonly uid?: string | undefined };
  /** Secrets that the gateway may sign with. Answers are signed with all of them. */
  readonly secrets: () => readonly string[];
  readonly log: Log;
  /** Fires when the runs in progress must end. */
  readonly stopping?: AbortSignal;
  readonly history?: CallHistory;
  /** Wall clock in ms, compared with the gateway's. */
  readonly now?: () => number;
}

/** A request as received. */
export interface WebhookRequest {
  readonly headers: SignatureHeaders;
  readonly body: Uint8Array;
  /** Called when the signature proves that the gateway sent the call, before it runs. */
  readonly onVerified?: () => void;
}

/**
 * Answers the gateway's calls with a controller. A call is refused if it is not genuine, is meant for another function,
 * or is late. A repeated call gets the same answer as before, and does not run again. A call that is older than the
 * newest run of its key gets a conflict. A key never runs twice at once here. Refusals and failed runs are answers, not
 * exceptions.
 */
export function webhookHandler<R extends Resource>(
  parts: WebhookHandlerOptions<R>,
): (request: WebhookRequest) => Promise<SentAnswer> {
  const { audience, secrets, log, now = Date.now, history = callHistory(now) } = parts;
  return ({ headers, body, onVerified }) =>
    answerOrRefusal(log, async () => {
      const received = receiveCall({ headers, body, secrets: secrets(), audience, now: now() });
      onVerified?.();
      const { call } = received;
      const answer = history.runOnce({ ...received, body }, async ({ superseded, previousEnded }) => {
        const result = await runCall(parts, call, superseded, previousEnded);
        return signedAnswer(result, call.token, secrets(), now());
      });
      return (await answer) ?? signedAnswer(staleResult, call.token, secrets(), now());
    });
}

/** The answer, or that to a message which is refused. */
export async function answerOrRefusal(
  log: Log,
  answer: () => SentAnswer | Promise<SentAnswer>,
): Promise<SentAnswer> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof MessageRefusedError)) throw error;
    const { refusal, why } = error;
    log.warn({ refusal, why }, "A call was refused");
    return refusalAnswer(error);
  }
}

const staleResult: Result = {
  outcome: "conflict",
  message: "A newer run of this key has begun here, or this one was answered long ago.",
};

/** The HTTP status is always 200: the signature does not cover it, so the outcome is in the body. */
export function signedAnswer(answer: object, id: string, secrets: readonly string[], at: number): SentAnswer {
  const body = writeJson(answer);
  return {
    status: 200,
    headers: { "content-type": "application/json", ...signMessage(secrets, { id, at }, body) },
    body,
  };
}

async function runCall<R extends Resource>(
  parts: WebhookHandlerOptions<R>,
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
    result = await callController(controller, call, context);
  } catch (error) {
    log.warn({ key: call.key, err: error }, "The run failed");
    result = resultOf(error);
  }
  const { outcome } = result;
  const ms = Math.round(performance.now() - begun);
  const fields = { key: call.key, type: call.type, outcome, ms, why: call.reasons };
  log[successes.includes(outcome) ? "debug" : "info"](fields, "Answered");
  return result;
}

const successes: readonly Result["outcome"][] = ["done", "composed", "finalized"];

async function callController<R extends Resource>(
  controller: Controller<R>,
  call: Call,
  context: ReconcileContext<R>,
): Promise<Result> {
  if (call.type === "dev.drover.compose.v2") return composeFor(controller, call, context);
  if (call.type === "dev.drover.finalize.v2") {
    await controller.finalize(context);
    context.signal.throwIfAborted();
    return { outcome: "finalized" };
  }
  const returned = await controller.reconcile(context);
  context.signal.throwIfAborted();
  if (returned?.failure !== undefined) throw returned.failure;
  const result = checkedResult(controller.for, returned);
  return resultSchema.parse(parseJson(writeJson({ ...result, outcome: "done" })));
}

/** @throws TerminalError if the controller declares no children. */
async function composeFor<R extends Resource>(
  { for: resource, name, compose }: Controller<R>,
  { children = [], related = [] }: Call,
  context: ReconcileContext<R>,
): Promise<Result> {
  if (compose === undefined)
    throw new TerminalError(
      `${name} declares no children. Leave out spec.webhook.composes, or define it with composeController.`,
      { reason: "NotComposed" },
    );
  const { namespace } = context.metadata;
  const observed = {
    children: observedObjects(children, namespace),
    related: observedObjects(related, namespace),
  };
  const returned = await compose(composeContext(context, observed));
  context.signal.throwIfAborted();
  const { children: declared, ...rest } = returned;
  const result = checkedResult(resource, rest);
  const answer = parseJson(writeJson({ ...result, children: declared, outcome: "composed" }));
  const parsed = resultSchema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new RetryError(`What compose returned is not valid: ${z.prettifyError(parsed.error)}`, {
    reason: "InvalidResult",
  });
}

/** @throws TerminalError if the spec does not parse. The function is not called then. */
function contextOf<R extends Resource>(
  controller: Controller<R>,
  { key: text, object }: Call,
  log: Log,
  signal: AbortSignal,
): ReconcileContext<R> {
  const parsed = parseObject(controller.for, object);
  if (!parsed.ok) throw new TerminalError(parsed.problem, { reason: "InvalidSpec" });
  const { metadata, spec, status } = parsed.object;
  return {
    key: parseObjectKey(text),
    metadata,
    spec,
    status,
    object,
    log,
    now: () => new Date(),
    signal,
    client: unavailableClient(
      () =>
        new TerminalError(
          controller.compose === undefined
            ? "A function that is called over HTTP has no access to the cluster. To give it access, leave out `delivery: webhook`."
            : "This function declares children: set spec.webhook.composes to true, and list their kinds in spec.owns.",
        ),
    ),
    guard: { beforeWrite: () => signal.throwIfAborted() },
    announce: ({ note, ...announcement }) => log.info({ key: text, ...announcement }, note),
    readSecret: (name) =>
      Promise.reject(
        new TerminalError(
          `readSecret("${name}"): a function that is called over HTTP has no access to the cluster. ` +
            "Mount the Secret into its Pod, and read the file.",
        ),
      ),
  };
}

/** The result that the gateway gets for an error, by the error's class. */
function resultOf(error: unknown): Result {
  const message = messageOf(error).slice(0, maxMessageLength);
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
