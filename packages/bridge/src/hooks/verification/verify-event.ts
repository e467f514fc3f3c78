import { raceAbort } from "@drover/timers";
import { messageOf, type Milliseconds } from "@drover/controller";
import type { IncomingBody } from "@drover/runtime";
import type { CachedSecrets } from "@drover/webhook";
import { readBody } from "../event-body.ts";
import { EventRefusedError, unavailable, unverified } from "../event-refused.ts";
import type { Verification } from "../hook.ts";
import { type HeaderClaim, schemeOf } from "./scheme.ts";
import type { SentHeaders } from "./sent-headers.ts";

export interface EventToVerify {
  readonly verify: Verification;
  readonly secrets: CachedSecrets;
  readonly headers: SentHeaders;
  readonly body: Pick<IncomingBody, "read" | "signal" | "verified">;
  readonly now: Milliseconds;
}

/** An event from a sender that has the secret. */
export interface VerifiedBody {
  readonly body: Uint8Array;
  readonly signedId: string | undefined;
}

/**
 * Checks the headers, then the body if the signature covers it; nothing of the body is parsed. If no remembered secret
 * matches, the secrets are read again, so that a new one is accepted at once. That wait ends when the connection
 * closes, so no body outlives its connection.
 * @throws EventRefusedError
 */
export async function verifyEvent({
  verify,
  secrets,
  headers,
  body,
  now,
}: EventToVerify): Promise<VerifiedBody> {
  const claim = claimOf(verify, headers, now);
  // Read before the body, so that no body is held in memory while a Secret is read.
  const remembered = await readable(secrets.current());
  const bytes = claim.isOverBody ? await readBody(body) : undefined;
  const isGood = (all: readonly string[]): boolean =>
    // All secrets are tried, so that the time taken does not reveal which one matched.
    all.filter((secret) => claim.isMadeWith(secret, bytes ?? nothing)).length > 0;
  if (!isGood(remembered)) {
    const newer = await readable(raceAbort(secrets.newerThan(remembered), body.signal));
    if (newer === undefined || !isGood(newer)) throw unverified("no secret of the hook matches");
  }
  body.verified();
  return { body: bytes ?? (await readBody(body)), signedId: claim.id };
}

const nothing = new Uint8Array();

/** A duplicated header is answered like a wrong signature, so that the answer does not reveal that the hook exists. */
function claimOf(verify: Verification, headers: SentHeaders, now: Milliseconds): HeaderClaim {
  try {
    return schemeOf(verify).claimOf(headers, now);
  } catch (error) {
    throw error instanceof EventRefusedError ? unverified(error.why) : error;
  }
}

/** While its secret cannot be read, an event can be neither accepted nor rejected. */
async function readable<Secrets>(reading: Promise<Secrets>): Promise<Secrets> {
  try {
    return await reading;
  } catch (error) {
    throw unavailable(`its secret cannot be read: ${messageOf(error)}`);
  }
}
