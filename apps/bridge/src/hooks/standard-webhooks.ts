import { claimIn, secretProblem, signatureHeaders, UnsignedError } from "@drover/webhook";
import { unverified } from "./event-refused.ts";
import type { Scheme } from "./scheme.ts";

/** https://www.standardwebhooks.com, as `@drover/webhook` reads it. */
export const standardWebhooks: Scheme = {
  problemOf: secretProblem,
  claimOf(headers, now) {
    const sent = signatureHeaders((name) => headers.one(name));
    try {
      return { ...claimIn(sent, now), isOverBody: true };
    } catch (error) {
      throw error instanceof UnsignedError ? unverified(error.message) : error;
    }
  },
};
