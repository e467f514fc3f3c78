import type { KubeObject } from "@drover/kube";
import { type PlanAnswer, planPath, type PlanQuestion, readPlanAnswer, signMessage } from "@drover/webhook";
import { randomUUID } from "node:crypto";
import {
  audienceOf,
  type CallResources,
  maxAnswerBytes,
  notAnsweredError,
  requestBody,
  targetFor,
} from "./call-function.ts";
import { objectForCall } from "./object-for-call.ts";
import { NoReplyError, post as postDirectly } from "./post.ts";
import { receiveSigned } from "./receive-answer.ts";
import { withPath } from "./target.ts";

/**
 * Asks a Pod of a function that pulls what its ReconcileFunction does not declare about an object.
 *
 * @throws RetryError if its answer does not come, is not signed, or cannot be used.
 */
export async function askForPlan(
  calling: CallResources,
  object: KubeObject,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<PlanAnswer> {
  const { fn, agent, now, post = postDirectly } = calling;
  const { url, address } = await targetFor(calling, signal);
  const target = { url: withPath(url, planPath), address };
  const used = await calling.secrets.current();
  const question: PlanQuestion = {
    type: "dev.drover.plan.v1",
    audience: audienceOf(fn),
    token: `plan-${randomUUID()}`,
    deadline: new Date(now() + timeout).toISOString(),
    object: objectForCall(fn.for, object),
  };
  const { token: id } = question;
  const body = requestBody(question, "The object cannot be sent to the function: the question");
  const headers = {
    "content-type": "application/json",
    ...signMessage(used, { id, at: now() }, body),
  };
  try {
    const reply = await post({ target, headers, body, most: maxAnswerBytes, agent, signal });
    return await receiveSigned({ id, reply, used, secrets: calling.secrets, now }, readPlanAnswer);
  } catch (error) {
    throw error instanceof NoReplyError ? notAnsweredError(target, error) : error;
  }
}
