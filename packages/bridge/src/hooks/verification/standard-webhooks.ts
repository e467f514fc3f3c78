import { parseSignatureClaim, secretProblem, readSignatureHeaders } from "@drover/webhook";
import type { VerificationScheme } from "./scheme.ts";

/** https://www.standardwebhooks.com, as `@drover/webhook` reads it. */
export const standardWebhooks: VerificationScheme = {
  secretProblem,
  claimOf: (headers, now) =>
    parseSignatureClaim(
      readSignatureHeaders((name) => headers.one(name)),
      now,
    ),
};
