import { raceAbort } from "@drover/timers";
import type { IncomingBody } from "@drover/runtime";
import {
  type Audience,
  type SignatureClaim,
  parseSignatureClaim,
  type Completion,
  readCompletion,
  type CachedSecrets,
  type SignatureHeaders,
  UnsignedError,
} from "@drover/webhook";

/** The reason why a completion is refused. */
export type CompletionRefusal =
  "unverified" | "malformed" | "unsupported" | "too large" | "not held" | "unavailable";

/** A completion was refused. The message is sent to the sender. */
export class CompletionRefusedError extends Error {
  override readonly name = "CompletionRefusedError";
  readonly outcome: CompletionRefusal;
  /** The reason for the gateway's log. */
  readonly why: string;
  constructor(outcome: CompletionRefusal, message: string, why = message) {
    super(message);
    this.outcome = outcome;
    this.why = why;
  }
}

/** The secrets of a function that is called over HTTP; undefined for other functions. */
export type SecretsLookup = (audience: Audience) => CachedSecrets | undefined;

export interface CompletionToReceive {
  /** The function that the URL names. It selects the secrets to verify with, and decides nothing else. */
  readonly named: Audience;
  readonly headers: SignatureHeaders;
  readonly body: Pick<IncomingBody, "read" | "signal" | "verified">;
  readonly secretsOf: SecretsLookup;
  /** Wall clock, ms. */
  readonly now: number;
}

/**
 * Verifies a completion, then parses it: no byte of the body is parsed before its signature is verified.
 * @throws CompletionRefusedError
 */
export async function receiveCompletion(options: CompletionToReceive): Promise<Completion> {
  const { named, headers, body: incoming, secretsOf, now } = options;
  const claim = parseClaim(headers, now);
  const secrets = secretsOf(named);
  if (secrets === undefined) throw unverified("no such function is called here");
  // Before the body, so that no body is held while a Secret is read.
  const used = await secrets.current().catch(unavailable);
  const body = await incoming.read();
  if (!isSignedWith(used, claim, body)) {
    const newer = await raceAbort(secrets.newerThan(used), incoming.signal).catch(unavailable);
    if (newer === undefined || !isSignedWith(newer, claim, body)) throw unverified("no secret fits");
  }
  incoming.verified();
  return completionIn(body, named);
}

/** Tries all secrets, so that the time does not reveal which one fits. */
const isSignedWith = (secrets: readonly string[], claim: SignatureClaim, body: Uint8Array): boolean =>
  secrets.filter((secret) => claim.isMadeWith(secret, body)).length > 0;

function completionIn(body: Uint8Array, named: Audience): Completion {
  const read = readCompletion(body);
  if (!read.ok) {
    throw new CompletionRefusedError("malformed", `The completion cannot be used: ${read.problem}.`);
  }
  const { audience } = read.message;
  if (audience.name === named.name && audience.uid === named.uid) return read.message;
  throw unverified("its audience is not the function that the URL names");
}

function parseClaim(headers: SignatureHeaders, now: number): SignatureClaim {
  try {
    return parseSignatureClaim(headers, now);
  } catch (error) {
    throw error instanceof UnsignedError ? unverified(error.message) : error;
  }
}

const unavailable = (): never => {
  throw new CompletionRefusedError("unavailable", "The secret cannot be read now. Send it again.");
};

/** The same message for an unknown function, so that a guess reveals nothing. */
const unverified = (why: string): CompletionRefusedError =>
  new CompletionRefusedError(
    "unverified",
    "The completion is not signed by a function that is called here. Check the secret, the URL and the clock.",
    why,
  );
