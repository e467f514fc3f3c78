/**
 * # @drover/webhook
 *
 * The contract between the gateway and the functions that it calls: what is sent, what is answered, how both are
 * signed, and what is believed. Both sides use it; nothing here listens or sends.
 *
 * - `call.ts`, `answer.ts` and `completion.ts` are the messages; `docs/webhook-functions.md` says what they mean.
 * - `standard-webhooks.ts` signs and verifies, after https://www.standardwebhooks.com; `json-text.ts` reads what a
 *   stranger wrote.
 * - `received-call.ts` says whether a call is genuine, meant for us and in time, `received-answer.ts` what an answer is.
 * - `call-memory.ts` is what a function remembers, so that nothing runs twice, and nothing old after something newer.
 */
export * from "./answer.ts";
export * from "./call.ts";
export { callMemory, type CallMemory, type SentAnswer, SupersededError } from "./call-memory.ts";
export * from "./completion.ts";
export { isSame } from "./is-same.ts";
export { parseMessage, shapeProblem, UnreadableJsonError } from "./json-text.ts";
export {
  type MessageRead,
  readAnswer,
  readCompletion,
  type ReceivedAnswer,
  signatureProblem,
} from "./received-answer.ts";
export { CallRefusedError, type CallRefusal, receiveCall, type ReceivedCall } from "./received-call.ts";
export { type RememberedSecrets, rememberSecrets } from "./remembered-secrets.ts";
export {
  type Claim,
  claimIn,
  secretProblem,
  type SignatureHeaders,
  signatureHeaders,
  signed,
  UnsignedError,
} from "./standard-webhooks.ts";
