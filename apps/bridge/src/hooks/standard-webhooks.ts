import { claimIn, secretProblem, UnsignedError } from "@drover/webhook";
import { unverified } from "./event-refused.ts";
import type { Scheme } from "./scheme.ts";

/** https://www.standardwebhooks.com, as `@drover/webhook` reads it. */
export const standardWebhooks: Scheme = {
  problemOf: secretProblem,
  claimOf(headers, now) {
    const [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
      headers.one(name),
    );
    try {
      return { ...claimIn({ id, timestamp, signature }, now), isOverBody: true };
    } catch (error) {
      throw error instanceof UnsignedError ? unverified(error.message) : error;
    }
  },
};
