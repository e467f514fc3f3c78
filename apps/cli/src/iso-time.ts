/** ISO 8601 of a time in ms, as Redis has it; undefined for a number that is no time. */
export function isoTime(at: number): string | undefined {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
