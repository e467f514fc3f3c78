import { messageOf, type Milliseconds } from "@drover/controller";
import { raceAbort } from "@drover/queue";
import type { IncomingBody } from "@drover/runtime";
import type { RememberedSecrets } from "@drover/webhook";
import { readBody } from "./event-body.ts";
import { EventRefusedError, unavailable, unverified } from "./event-refused.ts";
import type { Verification } from "./hook.ts";
import { type Claim, schemeOf } from "./scheme.ts";
import type { SentHeaders } from "./sent-headers.ts";

export interface EventToVerify {
  readonly verify: Verification;
  readonly secrets: RememberedSecrets;
  readonly headers: SentHeaders;
  readonly body: Pick<IncomingBody, "read" | "signal" | "verified">;
  readonly now: Milliseconds;
}

/** An event that somebody sent who has the secret. */
export interface Verified {
  readonly body: Uint8Array;
  readonly signedId: string | undefined;
}

/**
 * Checks the headers, then the body where the signature is over it; nothing of the body is parsed. Secrets that do not fit
 * are read again, so that a new one is good at once; no body outlives its connection meanwhile.
 * @throws EventRefusedError
 */
export async function verifyEvent({ verify, secrets, headers, body, now }: EventToVerify): Promise<Verified> {
  const claim = claimOf(verify, headers, now);
  // Before the body, so that none is held while a Secret is read.
  const remembered = await readable(secrets.now());
  const bytes = claim.isOverBody ? await readBody(body) : undefined;
  const isGood = (all: readonly string[]): boolean =>
    // All are tried, so that the time does not say which it was.
    all.filter((secret) => claim.isMadeWith(secret, bytes ?? nothing)).length > 0;
  if (!isGood(remembered)) {
    const newer = await readable(raceAbort(secrets.newerThan(remembered), body.signal));
    if (newer === undefined || !isGood(newer)) throw unverified("no secret of the hook fits");
  }
  body.verified();
  return { body: bytes ?? (await readBody(body)), signedId: claim.id };
}

const nothing = new Uint8Array();

/** A doubled header is answered as a wrong signature is: by nothing shall it be known that there is such a hook. */
function claimOf(verify: Verification, headers: SentHeaders, now: Milliseconds): Claim {
  try {
    return schemeOf(verify).claimOf(headers, now);
  } catch (error) {
    throw error instanceof EventRefusedError ? unverified(error.why) : error;
  }
}

/** While its secret cannot be read an event is neither good nor bad. */
async function readable<Secrets>(reading: Promise<Secrets>): Promise<Secrets> {
  try {
    return await reading;
  } catch (error) {
    throw unavailable(`its secret cannot be read: ${messageOf(error)}`);
  }
}
