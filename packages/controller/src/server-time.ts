import type { Milliseconds } from "./duration.ts";

/**
 * The current time by a server's own clock, from its `Date` header; by the local clock if the header is missing. Dates
 * of the server are compared with it, because the two clocks may differ by minutes.
 *
 * @returns milliseconds since 1970
 */
export function serverTime(date: string | undefined): Milliseconds {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? Date.now() : time;
}
