import type { Milliseconds } from "@drover/controller";
import type { z } from "zod";
import { type Answer, answerSchema } from "./answer.ts";
import { type Call, callSchema } from "./call.ts";
import { type Completion, completionSchema } from "./completion.ts";
import { hasProto, parseMessage, UnreadableJsonError } from "./json-text.ts";
import { MessageRefusedError } from "./message-refused.ts";
import { isMadeWithAny, parseSignatureClaim, type SignatureHeaders } from "./standard-webhooks.ts";

/** The body of an answer as received, and the values to verify it with. */
export interface ReceivedAnswer {
  readonly headers: SignatureHeaders;
  readonly body: Uint8Array;
  readonly secrets: readonly string[];
  /** The call's id, which the answer repeats. */
  readonly id: string;
  /** Wall clock. */
  readonly now: Milliseconds;
}

/** Why an answer's signature is not valid, without any of the received text; undefined if it is valid. */
export function signatureProblem({ headers, body, secrets, id, now }: ReceivedAnswer): string | undefined {
  try {
    const claim = parseSignatureClaim(headers, now);
    if (claim.id !== id) return "webhook-id is not the call's";
    return isMadeWithAny(claim, secrets, body) ? undefined : "webhook-signature fits none of its secrets";
  } catch (error) {
    if (error instanceof MessageRefusedError) return error.why;
    throw error;
  }
}

export type ParsedMessage<Message> =
  { readonly ok: true; readonly message: Message } | { readonly ok: false; readonly problem: string };

/** Parses an answer with a verified signature. `problem` is for people: it contains the wrong fields, and why. */
export const readAnswer = (body: Uint8Array): ParsedMessage<Answer> =>
  readMessage(body, answerSchema, (value) => (isOfVersion1(value) ? answerOfVersion1 : undefined));

/** Parses a completion with a verified signature. */
export const readCompletion = (body: Uint8Array): ParsedMessage<Completion> =>
  readMessage(body, completionSchema, ({ result }) =>
    isRecord(result) && isOfVersion1(result) ? completionOfVersion1 : undefined,
  );

/** Parses a call with a verified signature. */
export const readCall = (body: Uint8Array): ParsedMessage<Call> => readMessage(body, callSchema);

/**
 * Parses a message. `problem` is for people, as in {@link readAnswer}.
 *
 * @param older the problem of a message of an older version of the contract; undefined if it is none.
 */
export function readMessage<Message>(
  body: Uint8Array,
  schema: z.ZodType<Message>,
  older: (value: Readonly<Record<string, unknown>>) => string | undefined = () => undefined,
): ParsedMessage<Message> {
  let value: unknown;
  try {
    value = parseMessage(body);
  } catch (error) {
    if (error instanceof UnreadableJsonError) return { ok: false, problem: `it ${error.message}` };
    throw error;
  }
  if (hasProto(value)) return { ok: false, problem: "a field has the name __proto__" };
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, message: parsed.data };
  const outdated = isRecord(value) ? older(value) : undefined;
  return { ok: false, problem: outdated ?? problemsIn(parsed.error) };
}

const problemsIn = ({ issues }: z.ZodError): string =>
  issues
    .flatMap(ofBestBranch)
    .slice(0, 3)
    .map(({ path, message }) => `${path.join(".") || "the body"}: ${message.slice(0, 300)}`)
    .join("; ");

/** The problems of the branch of a union that fits best: the one with the problem that lies deepest. */
function ofBestBranch(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const branches = issue.errors.map((errors) => errors.flatMap(ofBestBranch));
  const depthOf = (branch: readonly z.core.$ZodIssue[]): number =>
    Math.max(...branch.map(({ path }) => path.length));
  const best = branches.reduce((a, b) => (depthOf(b) > depthOf(a) ? b : a));
  return best.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

/** Version 1 of the contract had no field `outcome`: the HTTP status was the outcome, and it is not signed. */
const isOfVersion1 = (value: Readonly<Record<string, unknown>>): boolean => !("outcome" in value);

const answerOfVersion1 =
  'it has no "outcome", as in version 1 of the contract. State the outcome in the body, whatever the HTTP status: ' +
  '{"outcome":"done","status":{...}} for a 200, {"outcome":"finalized"} for finalized, ' +
  '{"outcome":"again","after":"30s"} for a Retry-After, {"outcome":"conflict"} for a 409, ' +
  '{"outcome":"parked","message":"..."} for another 4xx, {"outcome":"failed","message":"..."} for a 5xx, ' +
  '{"outcome":"accepted"} for a 202';
const completionOfVersion1 =
  'its result has no "outcome", as in version 1 of the contract. Send {"audience","key","token","result"} with the ' +
  'result that an answer would have, such as {"outcome":"done","status":{...}}, and without code and retryAfter';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
