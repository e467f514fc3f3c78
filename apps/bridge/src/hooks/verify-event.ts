import type { Milliseconds } from "@drover/controller";
import type { RememberedSecrets } from "@drover/webhook";
import { EventRefusedError, unavailable, unverified } from "./event-refused.ts";
import type { Verification } from "./hook.ts";
import { type Claim, schemeOf } from "./scheme.ts";
import type { SentHeaders } from "./sent-headers.ts";

export interface EventToVerify {
  readonly verify: Verification;
  readonly secrets: RememberedSecrets;
  readonly headers: SentHeaders;
  readonly readBody: () => Promise<Uint8Array>;
  readonly now: Milliseconds;
}

/** An event that somebody sent who has the secret. */
export interface Verified {
  readonly body: Uint8Array;
  readonly signedId: string | undefined;
}

/**
 * Looks at the headers, then at the body where that is signed: what can be refused is refused before it is read.
 * Secrets that do not fit are read again, so that a new one is good at once.
 * @throws EventRefusedError
 */
export async function verifyEvent({
  verify,
  secrets,
  headers,
  readBody,
  now,
}: EventToVerify): Promise<Verified> {
  const claim = claimOf(verify, headers, now);
  const body = claim.isOverBody ? await readBody() : undefined;
  const isGood = (all: readonly string[]): boolean =>
    // All are tried, so that the time does not say which it was.
    all.filter((secret) => claim.isMadeWith(secret, body ?? nothing)).length > 0;
  const remembered = await readable(secrets.now());
  if (!isGood(remembered)) {
    const newer = await readable(secrets.newerThan(remembered));
    if (newer === undefined || !isGood(newer)) throw unverified("no secret of the hook fits");
  }
  return { body: body ?? (await readBody()), signedId: claim.id };
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
    throw unavailable(`its secret cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
