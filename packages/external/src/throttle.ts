import { type Duration, RetryAfterError, ThrottledError } from "@drover/controller";
import type { ExternalPort } from "./external-port.ts";

/**
 * The server asks for fewer requests (a 429, a 503, `SlowDown`). The kit makes all keys that use the same account wait,
 * so that one of them does not use up what the server gives back.
 */
export class TooManyRequestsError extends RetryAfterError {
  constructor(message: string, after: Duration, cause: unknown) {
    super(message, { after, reason: "SlowDown", cause });
  }
}

/** Runs a part of a run. A TooManyRequestsError in it makes the port's account wait. */
export async function throttlingAccount<Result>(
  { account }: Pick<ExternalPort, "account">,
  part: () => Promise<Result>,
): Promise<Result> {
  try {
    return await part();
  } catch (error) {
    if (!(error instanceof TooManyRequestsError) || account === undefined) throw error;
    const { message, after, reason, cause } = error;
    throw new ThrottledError(message, { account, after, reason, cause });
  }
}
