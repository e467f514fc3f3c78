import { parseSignatureClaim, secretProblem, readSignatureHeaders, UnsignedError } from "@drover/webhook";
import { unverified } from "../event-refused.ts";
import type { VerificationScheme } from "./scheme.ts";

/** https://www.standardwebhooks.com, as `@drover/webhook` reads it. */
export const standardWebhooks: VerificationScheme = {
  secretProblem,
  claimOf(headers, now) {
    const sent = readSignatureHeaders((name) => headers.one(name));
    try {
      return { ...parseSignatureClaim(sent, now), isOverBody: true };
    } catch (error) {
      throw error instanceof UnsignedError ? unverified(error.message) : error;
    }
  },
};
