import { isEqualInConstantTime, unverified } from "@drover/webhook";
import { createHmac } from "node:crypto";
import type { HmacFormat } from "../hook.ts";
import type { VerificationScheme } from "./scheme.ts";
import { shortSecretProblem } from "./short-secret-problem.ts";

/**
 * A header contains the HMAC of the body, as GitHub and many others send it. No time is signed, so an event can be
 * replayed.
 */
export function hmac({ header, algorithm, prefix, encoding }: HmacFormat): VerificationScheme {
  const form = encoding === "hex" ? /^[0-9a-fA-F]+$/ : /^[A-Za-z0-9+/]+={0,2}$/;
  return {
    secretProblem: shortSecretProblem,
    claimOf(headers) {
      const value = headers.one(header);
      if (value === undefined) throw unverified(`${header} is missing`);
      const encoded = value.slice(prefix.length);
      if (!value.startsWith(prefix) || encoded.length > 200 || !form.test(encoded)) {
        throw unverified(`${header} does not have the form ${prefix}<${encoding}>`);
      }
      const claimed = Buffer.from(encoded, encoding);
      return {
        isOverBody: true,
        isMadeWith: (secret, body) =>
          isEqualInConstantTime(claimed, createHmac(algorithm, secret).update(body).digest()),
      };
    },
  };
}
