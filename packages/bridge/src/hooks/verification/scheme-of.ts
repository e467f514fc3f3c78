import { bearer } from "./bearer.ts";
import type { Verification } from "../hook.ts";
import { hmac } from "./hmac.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import type { VerificationScheme } from "./scheme.ts";

/** The scheme that a hook declares. */
export function schemeOf(verify: Verification): VerificationScheme {
  switch (verify.by) {
    case "standardWebhooks":
      return standardWebhooks;
    case "hmac":
      return hmac(verify);
    case "bearer":
      return bearer;
  }
}
