import { isEqualInConstantTime, unverified } from "@drover/webhook";
import type { VerificationScheme } from "./scheme.ts";
import { shortSecretProblem } from "./short-secret-problem.ts";

/**
 * The Authorization header contains the secret itself (RFC 6750). Genuine only if the connection is protected by TLS.
 */
export const bearer: VerificationScheme = {
  secretProblem: shortSecretProblem,
  claimOf(headers) {
    const [, token] = /^bearer +([!-~]{1,4096}) *$/i.exec(headers.one("authorization") ?? "") ?? [];
    if (token === undefined)
      throw unverified("Authorization is missing or does not have the form Bearer <secret>");
    return {
      isOverBody: false,
      isMadeWith: (secret) => isEqualInConstantTime(Buffer.from(token), Buffer.from(secret)),
    };
  },
};
