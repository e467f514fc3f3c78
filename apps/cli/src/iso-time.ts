/** ISO 8601 text of a time in ms since 1970; undefined if the number is not a valid time. */
export function isoTime(at: number): string | undefined {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
