import { writeJson } from "./exact-json.ts";

/** JSON with the keys of each object in order: equal values have equal texts. Fields that are undefined are left out. */
export const canonicalJson = (value: unknown): string => writeJson(sorted(value));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]));
}
