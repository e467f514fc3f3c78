/**
 * # @drover/webhook
 *
 * The contract between the gateway and the functions that it calls: requests, answers, signatures, and their
 * verification. Both sides use it; nothing here listens or sends.
 *
 * - `call.ts`, `answer.ts` and `completion.ts` define the messages; `docs/webhook-functions.md` explains them.
 * - `standard-webhooks.ts` signs and verifies, after https://www.standardwebhooks.com; `json-text.ts` parses untrusted
 *   text.
 * - `message-refused.ts` has the reasons to refuse a message, and the HTTP status of each.
 * - `received-call.ts` checks that a call is genuine, meant for this function and in time; `received-answer.ts`
 *   verifies and parses an answer.
 * - `plan-question.ts` is what `drover plan` asks a Pod of a function that pulls. It is no part of the contract.
 * - `call-history.ts` is a function's memory of calls: none runs twice, and none runs after a newer one.
 */
export { maxMessageLength, resultSchema, type Result, type Answer } from "./answer.ts";
export {
  contractVersion,
  eventHeaders,
  type CallType,
  type Audience,
  callSchema,
  type Call,
} from "./call.ts";
export { callHistory, type CallHistory } from "./call-history.ts";
export { type SentAnswer } from "./sent-answer.ts";
export * from "./completion.ts";
export { isEqualInConstantTime } from "./constant-time.ts";
export { parseMessage, shapeProblem, UnreadableJsonError } from "./json-text.ts";
export {
  type ParsedMessage,
  readAnswer,
  readCompletion,
  readMessage,
  signatureProblem,
} from "./received-answer.ts";
export {
  MessageRefusedError,
  type RetryAfter,
  refusalAnswer,
  unavailable,
  unverified,
} from "./message-refused.ts";
export { type PlanAnswer, planPath, type PlanQuestion, readPlanAnswer } from "./plan-question.ts";
export { receiveCall, receivePlanQuestion } from "./received-call.ts";
export { type CachedSecrets, cacheSecrets } from "./cached-secrets.ts";
export {
  isMadeWithAny,
  type MessageClaim,
  parseSignatureClaim,
  secretProblem,
  type SignatureHeaders,
  readSignatureHeaders,
  signMessage,
} from "./standard-webhooks.ts";
