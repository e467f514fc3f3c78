import { type MessageToVerify, verifyMessage } from "@drover/runtime";
import {
  type Audience,
  type CachedSecrets,
  type Completion,
  MessageRefusedError,
  parseSignatureClaim,
  readCompletion,
  type SignatureHeaders,
  unverified,
} from "@drover/webhook";

/** The secrets of a function that is called over HTTP; undefined for other functions. */
export type SecretsLookup = (audience: Audience) => CachedSecrets | undefined;

export interface CompletionToReceive {
  /** The function that the URL names. It selects the secrets to verify with, and decides nothing else. */
  readonly named: Audience;
  readonly headers: SignatureHeaders;
  readonly body: MessageToVerify["body"];
  readonly secretsOf: SecretsLookup;
  /** Wall clock, ms. */
  readonly now: number;
}

/**
 * Verifies a completion, then parses it: no byte of the body is parsed before its signature is verified.
 * @throws MessageRefusedError; BodyRefusedError
 */
export async function receiveCompletion(options: CompletionToReceive): Promise<Completion> {
  const { named, headers, body, secretsOf, now } = options;
  const claim = parseSignatureClaim(headers, now);
  const secrets = secretsOf(named);
  if (secrets === undefined) throw unverified("no such function is called here");
  const read = readCompletion(await verifyMessage({ claim, secrets, body }));
  if (!read.ok) {
    throw new MessageRefusedError("malformed", `The completion cannot be used: ${read.problem}.`);
  }
  const { audience } = read.message;
  if (audience.name === named.name && audience.uid === named.uid) return read.message;
  throw unverified("its audience is not the function that the URL names");
}
