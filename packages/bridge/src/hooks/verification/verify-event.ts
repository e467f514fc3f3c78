import type { Milliseconds } from "@drover/controller";
import { type MessageToVerify, verifyMessage } from "@drover/runtime";
import { MessageRefusedError, unverified } from "@drover/webhook";
import type { Verification } from "../hook.ts";
import type { HeaderClaim } from "./scheme.ts";
import { schemeOf } from "./scheme-of.ts";
import type { SentHeaders } from "./sent-headers.ts";

export interface EventToVerify extends Pick<MessageToVerify, "secrets" | "body"> {
  readonly verify: Verification;
  readonly headers: SentHeaders;
  readonly now: Milliseconds;
}

/** An event from a sender that has the secret. */
export interface VerifiedBody {
  readonly body: Uint8Array;
  readonly signedId: string | undefined;
}

/**
 * Checks the headers, then the body if the signature covers it; nothing of the body is parsed.
 * @throws MessageRefusedError; BodyRefusedError
 */
export async function verifyEvent({
  verify,
  secrets,
  headers,
  body,
  now,
}: EventToVerify): Promise<VerifiedBody> {
  const claim = claimOf(verify, headers, now);
  return { body: await verifyMessage({ claim, secrets, body }), signedId: claim.id };
}

/** A duplicated header is answered like a wrong signature, so that the answer does not reveal that the hook exists. */
function claimOf(verify: Verification, headers: SentHeaders, now: Milliseconds): HeaderClaim {
  try {
    return schemeOf(verify).claimOf(headers, now);
  } catch (error) {
    throw error instanceof MessageRefusedError ? unverified(error.why) : error;
  }
}
