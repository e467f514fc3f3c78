import { canonicalJson } from "@drover/json";
import { createHash } from "node:crypto";
import type { SettingValue } from "./setting.ts";

/** A place at which a value is not as it should be. */
export interface Difference {
  /** Such as `rules.0.status`; empty for the value itself. */
  readonly path: string;
  readonly found: SettingValue | undefined;
  readonly wanted: SettingValue;
}

/**
 * The first place where `found` lacks something of `wanted`. Fields that `wanted` does not have are not compared. Lists
 * must have the same items in the same order.
 */
export function firstDifference(
  found: SettingValue | undefined,
  wanted: SettingValue,
  path: readonly string[] = [],
): Difference | undefined {
  const here = { path: path.join("."), found, wanted };
  if (typeof wanted !== "object") return found === wanted ? undefined : here;
  if (typeof found !== "object" || isList(found) !== isList(wanted)) return here;
  if (isList(found) && isList(wanted) && found.length !== wanted.length) return here;
  const parts = new Map<string, SettingValue | undefined>(Object.entries(found));
  for (const [field, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const difference = firstDifference(parts.get(field), value, [...path, field]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

export const isList = (value: SettingValue | undefined): value is readonly SettingValue[] =>
  Array.isArray(value);

/** A hash of a value that is the same whatever the order of its fields. */
export const digestOf = (value: SettingValue): string =>
  createHash("sha256").update(canonicalJson(value)).digest("base64url").slice(0, 12);

const longestValue = 60;

/** A value for a message. */
export function shownValue(value: SettingValue | undefined): string {
  if (value === undefined) return "not set";
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}…` : text;
}
