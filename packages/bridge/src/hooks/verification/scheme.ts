import type { Milliseconds } from "@drover/controller";
import type { MessageClaim } from "@drover/webhook";
import type { SentHeaders } from "./sent-headers.ts";

/** A method of verifying events. */
export interface VerificationScheme {
  /** Describes why a secret cannot be used, without its value; undefined if it can be used. */
  secretProblem(secret: string): string | undefined;
  /**
   * Reads the claim from the headers, before the body is read.
   * @throws MessageRefusedError if no secret and no body could make the claim valid.
   */
  claimOf(headers: SentHeaders, now: Milliseconds): HeaderClaim;
}

/** The authenticity claim in the headers of an event. */
export interface HeaderClaim extends MessageClaim {
  /** The event's id, if the signature covers it. */
  readonly id?: string;
}
