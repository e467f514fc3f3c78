import type { Milliseconds } from "@drover/controller";
import { createHmac } from "node:crypto";
import { isEqualInConstantTime } from "./constant-time.ts";
import { unverified } from "./message-refused.ts";

/** Maximum difference between a message's timestamp and the local clock: a message outside it may be a replay. */
export const tolerance: Milliseconds = 5 * 60_000;
/** Signatures that are read at most. During a change of secrets a sender signs with both, so a message has a few. */
const maxSignatures = 50;
const minSecretBytes = 24;
const prefix = "whsec_";

/** The headers that sign a message; undefined for a missing one. */
export interface SignatureHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

/** Reads the signature headers of a message; `read` returns a header by its name. */
export const readSignatureHeaders = (read: (name: string) => string | undefined): SignatureHeaders => ({
  id: read("webhook-id"),
  timestamp: read("webhook-timestamp"),
  signature: read("webhook-signature"),
});

/** The claim in the headers of a message that it comes from a sender with a secret. It is not verified yet. */
export interface MessageClaim {
  /** True if the check needs the body. */
  readonly isOverBody: boolean;
  /** True if it was made with this secret and body. Compares in constant time. */
  isMadeWith(secret: string, body: Uint8Array): boolean;
}

/** The content of a message's signature headers, not verified yet. */
export interface SignatureClaim extends MessageClaim {
  readonly id: string;
  /** When it was sent, by the sender's clock, to the second: ms since 1970. */
  readonly at: Milliseconds;
}

/** True if the claim was made with one of the secrets. All are tried, so that the time does not reveal which one fits. */
export const isMadeWithAny = (
  claim: Pick<MessageClaim, "isMadeWith">,
  secrets: readonly string[],
  body: Uint8Array,
): boolean => secrets.filter((secret) => claim.isMadeWith(secret, body)).length > 0;

/**
 * Parses the signature headers after https://www.standardwebhooks.com: HMAC-SHA256 over `<id>.<timestamp>.<body>`,
 * written as `v1,<base64>`, several separated by blanks. The id and the time of the attempt are signed; by the
 * specification neither may contain a dot. Asymmetric signatures (`v1a`) are ignored. A header that came twice, which
 * HTTP joins with a comma and a blank, counts as invalid.
 *
 * @throws MessageRefusedError for missing or invalid headers, or a timestamp that is too far from `now`. Its `why` has
 *   the reason, and nothing of the headers.
 */
export function parseSignatureClaim(
  { id = "", timestamp = "", signature = "" }: SignatureHeaders,
  now: Milliseconds,
): SignatureClaim {
  if (!/^[!-~]{1,256}$/.test(id) || id.includes(".")) {
    throw unverified("webhook-id is missing, has a dot or is longer than 256");
  }
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw unverified("webhook-timestamp is missing or not a number of seconds");
  }
  const off = Math.round(now / 1_000) - Number(timestamp);
  if (Math.abs(off) * 1_000 > tolerance) {
    throw unverified("webhook-timestamp is more than 300 s from our clock; compare the clocks");
  }
  const signatures = signature.includes(", ") ? [] : signature.split(" ", maxSignatures).flatMap(v1);
  if (signatures.length === 0) throw unverified("webhook-signature has no v1 signature");
  return {
    id,
    at: Number(timestamp) * 1_000,
    isOverBody: true,
    isMadeWith(secret, body) {
      const expected = mac(secret, id, timestamp, body);
      return signatures.some((each) => isEqualInConstantTime(each, expected));
    },
  };
}

/** The headers of a message with this id, signed with each of these secrets. */
export function signMessage(
  secrets: readonly string[],
  { id, at }: { readonly id: string; readonly at: Milliseconds },
  body: Uint8Array | string,
): {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
} {
  const timestamp = String(Math.floor(at / 1_000));
  const signatures = secrets.map((secret) => `v1,${mac(secret, id, timestamp, body).toString("base64")}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

/** Why a secret cannot be used, without the secret itself; undefined if it can. */
export function secretProblem(secret: string): string | undefined {
  const encoded = secret.slice(prefix.length);
  if (!secret.startsWith(prefix) || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    return `is not written as ${prefix}<base64>`;
  }
  return secretBytes(secret).length < minSecretBytes ? `has less than ${minSecretBytes} bytes` : undefined;
}

const mac = (secret: string, id: string, timestamp: string, body: Uint8Array | string): Buffer =>
  createHmac("sha256", secretBytes(secret)).update(`${id}.${timestamp}.`).update(body).digest();

const secretBytes = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), "base64");

/**
 * The bytes of a `v1` signature. Only the canonical base64 is accepted: decoding drops some bits of the last letter.
 */
function v1(signature: string): readonly Buffer[] {
  const encoded = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1] ?? "";
  const bytes = Buffer.from(encoded, "base64");
  return encoded !== "" && bytes.toString("base64") === encoded ? [bytes] : [];
}
