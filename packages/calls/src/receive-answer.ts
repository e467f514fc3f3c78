import {
  type Answer,
  readAnswer,
  type CachedSecrets,
  type ParsedMessage,
  readSignatureHeaders,
  signatureProblem,
} from "@drover/webhook";
import { badAnswerError, unsignedError } from "./interpret.ts";
import type { Reply } from "./post.ts";

export interface AnswerToReceive {
  /** The call's id, which the answer repeats. */
  readonly id: string;
  readonly reply: Reply;
  /** The secrets that the call was signed with. */
  readonly used: readonly string[];
  readonly secrets: CachedSecrets;
  /** Wall clock, ms. */
  readonly now: () => number;
}

/**
 * Verifies an answer, then parses it. The signature covers only the body, so the HTTP status decides nothing.
 * @throws RetryError if the answer is not signed, or cannot be used.
 */
export const receiveAnswer = (options: AnswerToReceive): Promise<Answer> =>
  receiveSigned(options, readAnswer);

/** Verifies any answer, and parses it with `parse`. @throws RetryError as `receiveAnswer`. */
export async function receiveSigned<Message>(
  options: AnswerToReceive,
  parse: (body: Uint8Array) => ParsedMessage<Message>,
): Promise<Message> {
  const { id, used, secrets, now } = options;
  const { status, headers, body } = options.reply;
  const signature = readSignatureHeaders((header) => headerIn(headers[header]));
  const problemWith = (all: readonly string[]): string | undefined =>
    signatureProblem({ headers: signature, body, secrets: all, id, now: now() });
  let problem = problemWith(used);
  if (problem !== undefined && signature.signature !== undefined) {
    // The answer may be signed with a newer secret than the call.
    const newer = await secrets.newerThan(used);
    if (newer !== undefined) problem = problemWith(newer);
  }
  if (problem !== undefined) throw unsignedError(status, problem);
  const read = parse(body);
  if (!read.ok) throw badAnswerError(read.problem);
  return read.message;
}

const headerIn = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" ? value : value?.join(", ");
