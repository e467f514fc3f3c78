import type { Milliseconds } from "@drover/controller";
import { bearer } from "./bearer.ts";
import type { Verification } from "./hook.ts";
import { hmac } from "./hmac.ts";
import type { SentHeaders } from "./sent-headers.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

/** How an event shows that it is genuine. */
export interface Scheme {
  /** What is wrong with a secret; never the secret. Undefined for one that can be used. */
  problemOf(secret: string): string | undefined;
  /**
   * What the headers claim, before the body is read.
   * @throws EventRefusedError when no secret and no body could make it true.
   */
  claimOf(headers: SentHeaders, now: Milliseconds): Claim;
}

/** What the headers of an event claim. */
export interface Claim {
  /** The event's id, where it is part of what is signed. */
  readonly id?: string;
  /** Whether a body is needed to tell. */
  readonly isOverBody: boolean;
  /** Compares in constant time. */
  isMadeWith(secret: string, body: Uint8Array): boolean;
}

export function schemeOf(verify: Verification): Scheme {
  switch (verify.by) {
    case "standardWebhooks":
      return standardWebhooks;
    case "hmac":
      return hmac(verify);
    case "bearer":
      return bearer;
  }
}
