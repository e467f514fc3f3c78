import type { Milliseconds } from "@drover/controller";
import { createHmac } from "node:crypto";
import { unverified } from "./event-refused.ts";
import { isSame } from "./is-same.ts";
import type { Scheme } from "./scheme.ts";

/** An event that was signed longer ago, or later than now, may be one that somebody kept. */
const tolerance: Milliseconds = 5 * 60_000;
/** While secrets are changed a sender signs with both; nobody has more than a few. */
const mostSignatures = 50;
const leastSecret = 24;
const prefix = "whsec_";

/**
 * https://www.standardwebhooks.com: over `<id>.<timestamp>.<body>`, HMAC-SHA256, `v1,<base64>`, several with blanks
 * between. The id and the time of the attempt are signed; by the specification neither may have a dot. Asymmetric
 * signatures (`v1a`) are passed over.
 */
export const standardWebhooks: Scheme = {
  problemOf(secret) {
    const encoded = secret.slice(prefix.length);
    if (!secret.startsWith(prefix) || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
      return `is not written as ${prefix}<base64>`;
    }
    return keyOf(secret).length < leastSecret ? `has less than ${leastSecret} bytes` : undefined;
  },
  claimOf(headers, now) {
    const id = headers.one("webhook-id") ?? "";
    const timestamp = headers.one("webhook-timestamp") ?? "";
    const signatures = (headers.one("webhook-signature") ?? "").split(" ", mostSignatures).flatMap(v1);
    if (!/^[!-~]{1,256}$/.test(id) || id.includes(".")) {
      throw unverified("webhook-id is missing, has a dot or is longer than 256");
    }
    if (!/^\d{1,12}$/.test(timestamp))
      throw unverified("webhook-timestamp is missing or no number of seconds");
    const off = Math.round(now / 1_000) - Number(timestamp);
    if (Math.abs(off) * 1_000 > tolerance) {
      throw unverified(
        `webhook-timestamp is ${off} s behind our clock; more than 300 s either way is refused`,
      );
    }
    if (signatures.length === 0) throw unverified("webhook-signature has no v1 signature");
    return {
      id,
      isOverBody: true,
      isMadeWith(secret, body) {
        const expected = createHmac("sha256", keyOf(secret))
          .update(`${id}.${timestamp}.`)
          .update(body)
          .digest();
        return signatures.some((signature) => isSame(signature, expected));
      },
    };
  },
};

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), "base64");

function v1(signature: string): readonly Buffer[] {
  const encoded = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1];
  return encoded === undefined ? [] : [Buffer.from(encoded, "base64")];
}
