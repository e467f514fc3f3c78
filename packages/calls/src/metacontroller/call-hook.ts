import { RetryAfterError, RetryError } from "@drover/controller";
import type { Agent } from "node:http";
import {
  type CallGuard,
  type CallResources,
  maxAnswerBytes,
  notAnsweredError,
  postWhenReachable,
  requestBody,
  targetFor,
} from "../call-function.ts";
import { clampWait } from "../interpret.ts";
import { NoReplyError, type Reply } from "../post.ts";
import type { Target } from "../target.ts";

export interface HookParts {
  readonly target: (signal: AbortSignal) => Promise<Target>;
  readonly agent: Agent;
  readonly post?: CallResources["post"] | undefined;
  readonly scalesToZero: boolean;
  /** Wall clock, ms. */
  readonly now: () => number;
}

export interface CallingContext {
  readonly guard: CallGuard;
  readonly signal: AbortSignal;
}

/**
 * Calls a hook of Metacontroller once, and returns the body of its answer.
 *
 * Such hooks know no signatures: the answer is that of whatever answers at the address, which the ReconcileFunction has
 * chosen.
 *
 * @throws RetryAfterError for 429, RetryError for every other status than 200, without any text of the answer.
 */
export async function callHook(
  parts: HookParts,
  { guard, signal }: CallingContext,
  request: object,
): Promise<Uint8Array> {
  const target = await targetFor(parts, signal);
  const body = requestBody(request, "The object cannot be sent to the hook: the request");
  const { agent, scalesToZero, post } = parts;
  const headers = { "content-type": "application/json" };
  const reply = await postWhenReachable({ scalesToZero, post }, guard, {
    target,
    headers,
    body,
    most: maxAnswerBytes,
    agent,
    signal,
  }).catch((error: unknown) => {
    throw error instanceof NoReplyError ? notAnsweredError(target, error) : error;
  });
  if (reply.status === 200) return reply.body;
  throw refusal(reply, target, parts.now());
}

function refusal({ status, headers }: Reply, { url }: Target, now: number): Error {
  if (status === 429) {
    const seconds = retryAfter(headers["retry-after"] ?? "", now);
    return new RetryAfterError(`The hook at ${url.host} asks for a wait (429).`, {
      after: clampWait(`${Math.min(maxWaitSeconds, seconds)}s`),
      reason: "HookBusy",
    });
  }
  if (status >= 300 && status < 400)
    return new RetryError(
      `The hook ${url.pathname} at ${url.host} answered ${status}, a redirect, which is not followed. Name the address itself in spec.webhook.`,
      { reason: "Redirected" },
    );
  return new RetryError(
    `The hook ${url.pathname} at ${url.host} answered ${status} instead of 200. Look at its logs.`,
    { reason: "HookFailed" },
  );
}

const maxWaitSeconds = 24 * 60 * 60;

/** Seconds of a Retry-After header: a number, or a time. */
function retryAfter(text: string, now: number): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, Math.ceil((at - now) / 1_000));
}
