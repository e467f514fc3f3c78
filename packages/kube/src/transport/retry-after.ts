import type { Milliseconds } from "@drover/controller";

/** The longest Retry-After that counts. If a server asks for more, it is asked again after this time. */
export const longestRetryAfter: Milliseconds = 5 * 60_000;

/**
 * The wait that a `Retry-After` header asks for, between 0 and {@link longestRetryAfter}. The header has seconds, as
 * from Kubernetes, or an HTTP date, as a proxy may send it (RFC 9110, 10.2.3). Undefined for any other text, such as
 * `-1`: then the server has named no time.
 *
 * @param wallClock milliseconds since 1970 by the server's clock, from which a date is counted.
 */
export function retryAfter(header: string | undefined, wallClock: Milliseconds): Milliseconds | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,15}(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1_000, longestRetryAfter);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const date = Date.parse(text);
  if (Number.isNaN(date)) return undefined;
  return Math.min(Math.max(date - wallClock, 0), longestRetryAfter);
}
