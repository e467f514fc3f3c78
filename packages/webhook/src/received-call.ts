import type { Milliseconds } from "@drover/controller";
import { type Audience, type Call, callSchema } from "./call.ts";
import { hasProto, parseMessage, UnreadableJsonError } from "./json-text.ts";
import { type Claim, claimIn, type SignatureHeaders, UnsignedError } from "./standard-webhooks.ts";

/** Why a call is not answered. */
export type CallRefusal = "unverified" | "malformed" | "misdirected" | "expired";

/** A call that is not ours to answer. The message goes to whoever sent it and says what to do. */
export class CallRefusedError extends Error {
  override readonly name = "CallRefusedError";
  readonly refusal: CallRefusal;
  /** For the log: nobody unverified is told more than that. */
  readonly why: string;

  constructor(refusal: CallRefusal, message: string, why = message) {
    super(message);
    this.refusal = refusal;
    this.why = why;
  }
}

/** A call as it came, and what it is held against. */
export interface CallToReceive {
  readonly headers: SignatureHeaders;
  readonly body: Uint8Array;
  readonly secrets: readonly string[];
  /** Who we are; without a uid where that is not known. */
  readonly audience: { readonly name: string; readonly uid?: string | undefined };
  /** Wall clock. */
  readonly now: Milliseconds;
}

/** A call of the gateway's, meant for us, in time. */
export interface ReceivedCall {
  readonly call: Call;
  /** When it was sent, by the gateway's clock, to the second. */
  readonly at: Milliseconds;
}

/**
 * Verified first, then read: nobody else's text is parsed.
 * @throws CallRefusedError
 */
export function receiveCall({ headers, body, secrets, audience, now }: CallToReceive): ReceivedCall {
  const { id, at } = verified(headers, body, secrets, now);
  const call = callIn(body);
  if (call.token !== id) throw malformed("its token is not the webhook-id that it was sent with");
  if (!isFor(call.audience, audience)) {
    throw new CallRefusedError(
      "misdirected",
      `The call is meant for ${call.audience.name}, uid ${call.audience.uid}. Correct where that function is called.`,
    );
  }
  if (Date.parse(call.deadline) <= now) {
    throw new CallRefusedError("expired", "The call's deadline is over. Compare the clocks.");
  }
  return { call, at };
}

function verified(
  headers: SignatureHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  now: Milliseconds,
): Claim {
  const claim = claimOf(headers, now);
  // All are tried, so that the time does not say which it was.
  if (secrets.filter((secret) => claim.isMadeWith(secret, body)).length > 0) return claim;
  throw unverified("no secret fits");
}

function claimOf(headers: SignatureHeaders, now: Milliseconds): Claim {
  try {
    return claimIn(headers, now);
  } catch (error) {
    throw error instanceof UnsignedError ? unverified(error.message) : error;
  }
}

function callIn(body: Uint8Array): Call {
  let value: unknown;
  try {
    value = parseMessage(body);
  } catch (error) {
    throw error instanceof UnreadableJsonError ? malformed(`the body ${error.message}`) : error;
  }
  if (hasProto(value)) throw malformed("a field of the object has the name __proto__");
  const parsed = callSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw malformed(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not a call"}`);
}

const isFor = (meant: Audience, { name, uid = meant.uid }: CallToReceive["audience"]): boolean =>
  meant.name === name && meant.uid === uid;

const malformed = (why: string): CallRefusedError =>
  new CallRefusedError("malformed", `This is no call that can be answered: ${why}.`);

const unverified = (why: string): CallRefusedError =>
  new CallRefusedError(
    "unverified",
    "The call is not signed as it must be. Check the secret that both sides have, and the clocks.",
    why,
  );
