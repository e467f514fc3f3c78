import type { Milliseconds } from "@drover/controller";
import { type Answer, answerSchema } from "./answer.ts";
import { hasProto, parseJson, UnreadableJsonError } from "./json-text.ts";
import { claimIn, type SignatureHeaders, UnsignedError } from "./standard-webhooks.ts";

/** The body of an answer as it came, and what it is held against. */
export interface ReceivedAnswer {
  readonly headers: SignatureHeaders;
  readonly body: Uint8Array;
  readonly secrets: readonly string[];
  /** The call's id, which the answer repeats. */
  readonly id: string;
  /** Wall clock. */
  readonly now: Milliseconds;
}

/** Why it is not signed as it must be; undefined when it is. */
export function signatureProblem({ headers, body, secrets, id, now }: ReceivedAnswer): string | undefined {
  try {
    const claim = claimIn(headers, now);
    if (claim.id !== id) return "webhook-id is not the call's";
    if (secrets.filter((secret) => claim.isMadeWith(secret, body)).length > 0) return undefined;
    return "webhook-signature fits none of its secrets";
  } catch (error) {
    if (error instanceof UnsignedError) return error.message;
    throw error;
  }
}

export type AnswerRead =
  { readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly problem: string };

/** What a body says that is genuine; `problem` is for people, and holds nothing of the body but names of fields. */
export function readAnswer(body: Uint8Array): AnswerRead {
  try {
    return answerIn(parseJson(body));
  } catch (error) {
    if (error instanceof UnreadableJsonError) return { ok: false, problem: `it ${error.message}` };
    throw error;
  }
}

/** As `readAnswer`, of a value out of JSON. */
export function answerIn(value: unknown): AnswerRead {
  if (hasProto(value)) return { ok: false, problem: "a field has the name __proto__" };
  const parsed = answerSchema.safeParse(value);
  if (parsed.success) return { ok: true, answer: parsed.data };
  const problems = parsed.error.issues.slice(0, 3).map(({ path, message }) => {
    return `${path.join(".") || "the answer"}: ${message.slice(0, 300)}`;
  });
  return { ok: false, problem: problems.join("; ") };
}
