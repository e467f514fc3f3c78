/**
 * # @drover/calls
 *
 * Functions that are called over HTTP, as controllers: the gateway takes keys for them, and `drover plan` plans with them.
 *
 * - `webhook-function.ts` reads such a function from its ReconcileFunction.
 * - `called-function.ts` makes the controller of one run: it calls the function, and makes the children that it declares.
 * - `call-function.ts` calls once: `object-for-call.ts` is what is sent, `post.ts` sends it, `receive-answer.ts` verifies
 *   the answer, and `interpret.ts` makes an outcome of it. `pending-runs.ts` waits for completions.
 * - `ask-for-plan.ts` asks a Pod of a function that pulls what only its code decides, for a plan.
 * - `metacontroller/` does the same with hooks that were written for Metacontroller.
 */
export { askForPlan } from "./ask-for-plan.ts";
export { audienceOf, type CallResources, maxAnswerBytes } from "./call-function.ts";
export { openCalledFunction, type CalledFunction } from "./called-function.ts";
export { type CompletionOutcome, type PendingRuns, pendingRuns } from "./pending-runs.ts";
export { NoReplyError } from "./post.ts";
export { type Target, TargetError, withPath } from "./target.ts";
export {
  readPulledFunction,
  readWebhookFunction,
  readyPodsOf,
  type WebhookFunction,
} from "./webhook-function.ts";
