import { raceAbort } from "@drover/timers";
import {
  type Milliseconds,
  type ReconcileContext,
  type Resource,
  RetryError,
  TerminalError,
} from "@drover/controller";
import { writeJson } from "@drover/json";
import type { KubeObject } from "@drover/kube";
import { type Run } from "@drover/queue";
import {
  type Call,
  type CallType,
  completionUrl,
  eventHeaders,
  type CachedSecrets,
  shapeProblem,
  signMessage,
} from "@drover/webhook";
import type { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { PendingRuns } from "./pending-runs.ts";
import { type Target, TargetError } from "./target.ts";
import type { WebhookFunction } from "./webhook-function.ts";
import { type Success, successOf } from "./interpret.ts";
import { NoReplyError, post, type PostOptions, type Reply } from "./post.ts";
import { receiveAnswer } from "./receive-answer.ts";
import { childForCall, objectForCall, relatedForCall } from "./object-for-call.ts";

/** The resources for calls of one function. */
export interface CallResources {
  readonly fn: WebhookFunction;
  readonly secrets: CachedSecrets;
  readonly target: (signal: AbortSignal) => Promise<Target>;
  readonly agent: Agent;
  /** Sends the requests in another way than to their target's address. */
  readonly post?: typeof post;
  readonly pending: PendingRuns;
  /** The base URL of the listener for completions, ending with a slash; undefined if there is none. */
  readonly complete: string | undefined;
  /** Names this gateway in `ce-source`. */
  readonly source: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** How long a Service may refuse connections after its first Pod became ready. */
  readonly serviceDelay?: Milliseconds;
}

/** kube-proxy routes to a ready Pod within a second or two, on a node that is not overloaded. */
const defaultServiceDelay: Milliseconds = 5_000;
const retryInterval: Milliseconds = 100;

/** Maximum size of a call in bytes: an object may have 1.5 MiB. */
export const maxCallBytes = 2 * 2 ** 20;
/** Maximum size of an answer or a completion in bytes. */
export const maxAnswerBytes = 2 ** 20;

/** One call of a function, during a run. */
export interface FunctionCall {
  readonly type: CallType;
  readonly run: Run;
  readonly context: ReconcileContext<Resource>;
  /** Wall clock, ms. */
  readonly deadline: number;
  /** For a call of type compose: the children that exist. */
  readonly children?: readonly KubeObject[];
  /** For a call of type compose: the related objects that exist. */
  readonly related?: readonly KubeObject[];
}

/**
 * Calls the function once and returns its result if that is a success. Every other outcome is thrown, as the error
 * class that the runtime expects for it. Nothing is sent when the lease is over, and nothing is sent twice.
 */
export async function callFunction(parts: CallResources, one: FunctionCall): Promise<Success> {
  const { fn, pending } = parts;
  const { run } = one;
  const target = await targetFor(parts, run.signal);
  const secrets = await parts.secrets.current();
  const call = callOf(parts, one);
  const body = requestBody(call, "The object cannot be sent to the function: the call");
  const at = parts.now();
  const headers = {
    ...eventHeaders(call, parts.source, new Date(at)),
    ...signMessage(secrets, { id: call.token, at }, body),
    ...(run.claim.trace !== undefined && { traceparent: run.claim.trace }),
  };
  const { completed, forget } = pending.expect(run.token, {
    audience: audienceOf(fn),
    key: run.key,
    held: () => run.hasLease(),
  });
  try {
    const { agent, serviceDelay } = parts;
    const options = { target, headers, body, most: maxAnswerBytes, agent, signal: run.signal };
    const reachable = { scalesToZero: fn.scalesToZero, serviceDelay, post: parts.post };
    const reply = await postWhenReachable(reachable, guardOf(one), options);
    const { secrets: cachedSecrets, now } = parts;
    const answer = await receiveAnswer({ id: call.token, reply, used: secrets, secrets: cachedSecrets, now });
    if (answer.outcome !== "accepted") return successOf(answer, one.type);
    if (parts.complete === undefined) throw noCompletionsError;
    return successOf((await raceAbort(completed, run.signal)).result, one.type);
  } catch (error) {
    throw error instanceof NoReplyError ? notAnsweredError(target, error) : error;
  } finally {
    forget();
  }
}

/**
 * A function's Pods are ready before its Service routes to them, so the first call after scaling from zero waits
 * for that instead of failing. Only a refused connection is tried again, because nothing was sent then.
 */
export async function postWhenReachable(
  {
    scalesToZero,
    serviceDelay = defaultServiceDelay,
    post: send = post,
  }: {
    readonly scalesToZero: boolean;
    readonly serviceDelay?: Milliseconds | undefined;
    readonly post?: CallResources["post"] | undefined;
  },
  guard: CallGuard,
  options: PostOptions,
): Promise<Reply> {
  const end = performance.now() + (scalesToZero ? serviceDelay : 0);
  for (;;) {
    guard.beforeWrite();
    try {
      return await send(options);
    } catch (error) {
      const isAwaited = error instanceof NoReplyError && error.isUnsent && performance.now() < end;
      if (!isAwaited) throw error;
      await raceAbort(sleep(retryInterval), options.signal);
    }
  }
}

const guardOf = ({ type, context: { guard } }: FunctionCall): CallGuard =>
  type === "dev.drover.compose.v2" ? guardOfPureCall(guard) : guard;

type RunGuard = ReconcileContext<Resource>["guard"];
export type CallGuard = Pick<RunGuard, "beforeWrite">;

/**
 * The guard of a call that only asks what should exist: it is made in a plan, too. Any other call may write outside the
 * cluster, and a plan ends there.
 */
export const guardOfPureCall = (guard: RunGuard): CallGuard =>
  guard.plan === undefined ? guard : { beforeWrite: () => undefined };

export const audienceOf = ({ namespace, controller, uid }: WebhookFunction): Call["audience"] => ({
  name: `${namespace}/${controller}`,
  uid,
});

function callOf(
  { fn, complete }: CallResources,
  { type, run, context, deadline, children, related }: FunctionCall,
): Call {
  const audience = audienceOf(fn);
  const { group, version, kind } = fn.for;
  const { uid, generation = 0 } = context.metadata;
  const { reasons, fails, replaced } = run.claim;
  return {
    type,
    audience,
    kind: { group, version, kind },
    key: run.key,
    uid,
    ...(replaced !== undefined && { replaced }),
    generation,
    token: run.token,
    deadline: new Date(deadline).toISOString(),
    reasons: [...reasons],
    fails,
    object: objectForCall(fn.for, context.object),
    ...(children && { children: children.map(fn.pulls ? relatedForCall : childForCall) }),
    ...(related && { related: related.map(relatedForCall) }),
    ...(complete !== undefined && { complete: completionUrl(complete, audience) }),
  };
}

/** @throws RetryError `NoTarget` */
export const targetFor = ({ target }: Pick<CallResources, "target">, signal: AbortSignal): Promise<Target> =>
  target(signal).catch((error: unknown) => {
    throw error instanceof TargetError ? new RetryError(error.message, { reason: "NoTarget" }) : error;
  });

/**
 * A request as JSON.
 *
 * @param refusal the beginning of the message for one that cannot be sent.
 * @throws TerminalError `TooLarge`
 */
export function requestBody(request: object, refusal: string): Buffer {
  const body = Buffer.from(writeJson(request));
  const problem = body.byteLength > maxCallBytes ? `has more than ${maxCallBytes} bytes` : shapeProblem(body);
  if (problem === undefined) return body;
  throw new TerminalError(
    `${refusal} ${problem}. Make the object, or its children and related objects, smaller.`,
    { reason: "TooLarge" },
  );
}

const noCompletionsError = new RetryError(
  "The function answered accepted, but this gateway takes no completions. Set DROVER_COMPLETIONS_PORT, or have it answer with the result.",
  { reason: "NoCompletions" },
);

export const notAnsweredError = ({ url }: Target, { message }: NoReplyError): RetryError =>
  new RetryError(`The function at ${url.host} did not answer: ${message}.`, { reason: "NotAnswered" });
