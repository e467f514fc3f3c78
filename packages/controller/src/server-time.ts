import type { Milliseconds } from "./duration.ts";

/**
 * The time by the server's own clock, as its `Date` header says: a date of the server's is read against that, since its
 * clock may be minutes from ours. Ours where it says none.
 *
 * @returns milliseconds since 1970
 */
export function serverTime(date: string | undefined): Milliseconds {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? Date.now() : time;
}
