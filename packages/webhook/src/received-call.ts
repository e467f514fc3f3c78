import type { Milliseconds } from "@drover/controller";
import { type Audience, type Call, callSchema } from "./call.ts";
import { hasProto, parseMessage, UnreadableJsonError } from "./json-text.ts";
import {
  type SignatureClaim,
  parseSignatureClaim,
  type SignatureHeaders,
  UnsignedError,
} from "./standard-webhooks.ts";

/** Why a call is refused. */
export type CallRefusal = "unverified" | "malformed" | "misdirected" | "expired";

/** A call that must not be run here. The message goes to the call's sender, and contains what to do. */
export class CallRefusedError extends Error {
  override readonly name = "CallRefusedError";
  readonly refusal: CallRefusal;
  /** The exact problem, for the log. The sender of an unverified call gets only `message`. */
  readonly why: string;

  constructor(refusal: CallRefusal, message: string, why = message) {
    super(message);
    this.refusal = refusal;
    this.why = why;
  }
}

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
 * @throws CallRefusedError
 */
export function receiveCall({ headers, body, secrets, audience, now }: CallToReceive): ReceivedCall {
  const { id, at } = verifySignature(headers, body, secrets, now);
  const call = callIn(body);
  if (call.token !== id) throw malformed("its token is not the webhook-id that it was sent with");
  if (!isAddressedTo(call.audience, audience)) {
    throw new CallRefusedError(
      "misdirected",
      `The call is meant for ${call.audience.name}, uid ${call.audience.uid}. Correct the address of that function.`,
    );
  }
  if (Date.parse(call.deadline) <= now) {
    throw new CallRefusedError("expired", "The call's deadline is over. Compare the clocks.");
  }
  return { call, at };
}

function verifySignature(
  headers: SignatureHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  now: Milliseconds,
): SignatureClaim {
  const claim = parseClaim(headers, now);
  // All secrets are tried, so that the time does not reveal which one fits.
  if (secrets.filter((secret) => claim.isMadeWith(secret, body)).length > 0) return claim;
  throw unverified("no secret fits");
}

function parseClaim(headers: SignatureHeaders, now: Milliseconds): SignatureClaim {
  try {
    return parseSignatureClaim(headers, now);
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

const isAddressedTo = (
  intended: Audience,
  { name, uid = intended.uid }: CallToReceive["audience"],
): boolean => intended.name === name && intended.uid === uid;

const malformed = (why: string): CallRefusedError =>
  new CallRefusedError("malformed", `This call cannot be answered: ${why}.`);

const unverified = (why: string): CallRefusedError =>
  new CallRefusedError(
    "unverified",
    "The call is not signed as it must be. Check the secret that both sides have, and the clocks.",
    why,
  );
