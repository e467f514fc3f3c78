import type { Milliseconds } from "@drover/controller";
import type { Audience, Call } from "./call.ts";
import { MessageRefusedError, unverified } from "./message-refused.ts";
import { type PlanQuestion, readPlanQuestion } from "./plan-question.ts";
import { type ParsedMessage, readCall } from "./received-answer.ts";
import { isMadeWithAny, parseSignatureClaim, type SignatureHeaders } from "./standard-webhooks.ts";

/** A call as received, and the values to check it against. */
export interface CallToReceive {
  readonly headers: SignatureHeaders;
  readonly body: Uint8Array;
  readonly secrets: readonly string[];
  /** The identity of this function; without a uid if that is not known. */
  readonly audience: { readonly name: string; readonly uid?: string | undefined };
  /** Wall clock. */
  readonly now: Milliseconds;
}

/** A verified call of the gateway, meant for this function, in time. */
export interface ReceivedCall {
  readonly call: Call;
  /** When it was sent, by the gateway's clock, to the second: ms since 1970. */
  readonly at: Milliseconds;
}

/**
 * Verifies a call, and parses its body only after that: unverified text is never parsed.
 * @throws MessageRefusedError `unverified`, `malformed`, `misdirected` or `expired`
 */
export const receiveCall = (received: CallToReceive): ReceivedCall => verified(received, readCall);

/** Verifies a question of `drover plan` as a call. @throws MessageRefusedError as `receiveCall`. */
export const receivePlanQuestion = (received: CallToReceive): PlanQuestion =>
  verified(received, readPlanQuestion).call;

function verified<Message extends Pick<Call, "token" | "audience" | "deadline">>(
  { headers, body, secrets, audience, now }: CallToReceive,
  parse: (body: Uint8Array) => ParsedMessage<Message>,
): { readonly call: Message; readonly at: Milliseconds } {
  const claim = parseSignatureClaim(headers, now);
  if (!isMadeWithAny(claim, secrets, body)) throw unverified("no secret fits");
  const read = parse(body);
  if (!read.ok) throw malformed(read.problem);
  const call = read.message;
  if (call.token !== claim.id) throw malformed("its token is not the webhook-id that it was sent with");
  if (!isAddressedTo(call.audience, audience)) {
    throw new MessageRefusedError(
      "misdirected",
      `The call is meant for ${call.audience.name}, uid ${call.audience.uid}. Correct the address of that function.`,
    );
  }
  if (Date.parse(call.deadline) <= now) {
    throw new MessageRefusedError("expired", "The call's deadline is over. Compare the clocks.");
  }
  return { call, at: claim.at };
}

const isAddressedTo = (
  intended: Audience,
  { name, uid = intended.uid }: CallToReceive["audience"],
): boolean => intended.name === name && intended.uid === uid;

const malformed = (why: string): MessageRefusedError =>
  new MessageRefusedError("malformed", `This call cannot be answered: ${why}.`);
