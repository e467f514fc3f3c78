import {
  type Audience,
  type Claim,
  claimIn,
  type Completion,
  completionSchema,
  hasProto,
  parseJson,
  type RememberedSecrets,
  type SignatureHeaders,
  UnreadableJsonError,
  UnsignedError,
} from "@drover/webhook";

/** Why a completion is not taken. */
export type CompletionRefusal =
  "unverified" | "malformed" | "unsupported" | "too large" | "not held" | "unavailable";

/** The message goes to whoever sent it. */
export class CompletionRefusedError extends Error {
  override readonly name = "CompletionRefusedError";
  readonly outcome: CompletionRefusal;
  /** For the log of those who run the gateway. */
  readonly why: string;
  constructor(outcome: CompletionRefusal, message: string, why = message) {
    super(message);
    this.outcome = outcome;
    this.why = why;
  }
}

/** The secrets of a function that is called; undefined for one that is not. */
export type SecretsOf = (audience: Audience) => RememberedSecrets | undefined;

export interface CompletionToReceive {
  readonly headers: SignatureHeaders;
  readonly readBody: () => Promise<Uint8Array>;
  readonly secretsOf: SecretsOf;
  /** Wall clock. */
  readonly now: number;
}

/**
 * A completion that is its audience's own word.
 * @throws CompletionRefusedError
 */
export async function receiveCompletion(options: CompletionToReceive): Promise<Completion> {
  const { headers, readBody, secretsOf, now } = options;
  const claim = claimOf(headers, now);
  const body = await readBody();
  // Who sends it is in what is not verified yet: it only says with which secret it must be signed.
  const value = valueOf(body);
  const completion = completionSchema.safeParse(value);
  if (!completion.success || hasProto(value)) throw unverified("it is no completion");
  const secrets = secretsOf(completion.data.audience);
  if (secrets === undefined) throw unverified("no such function is called here");
  if (!(await isMade(claim, body, secrets))) throw unverified("no secret fits");
  return completion.data;
}

async function isMade(claim: Claim, body: Uint8Array, secrets: RememberedSecrets): Promise<boolean> {
  const isGood = (all: readonly string[]): boolean =>
    all.filter((secret) => claim.isMadeWith(secret, body)).length > 0;
  const unavailable = (): never => {
    throw new CompletionRefusedError("unavailable", "The secret cannot be read now. Send it again.");
  };
  const used = await secrets.now().catch(unavailable);
  if (isGood(used)) return true;
  const newer = await secrets.newerThan(used).catch(unavailable);
  return newer !== undefined && isGood(newer);
}

function claimOf(headers: SignatureHeaders, now: number): Claim {
  try {
    return claimIn(headers, now);
  } catch (error) {
    throw error instanceof UnsignedError ? unverified(error.message) : error;
  }
}

function valueOf(body: Uint8Array): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof UnreadableJsonError)) throw error;
    throw new CompletionRefusedError("malformed", `The body ${error.message}. Send a completion.`);
  }
}

/** The same words for a function that there is not: who guesses learns nothing. */
const unverified = (why: string): CompletionRefusedError =>
  new CompletionRefusedError(
    "unverified",
    "The completion is not signed as a function's that is called here, or is none. Check the secret, the body and the clock.",
    why,
  );
