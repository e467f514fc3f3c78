import { isList, type SettingValue } from "@drover/external";
import { canonicalJson } from "@drover/json";

/** The fields of a value; none if it is not an object. */
export const fieldsOf = (
  value: SettingValue | undefined,
): { readonly [field: string]: SettingValue | undefined } =>
  typeof value === "object" && !isList(value) ? value : {};

/** The items of a list, or the one item that stands for a list of it. */
export const listOf = (value: SettingValue = []): readonly SettingValue[] =>
  isList(value) ? value : [value];

/** A list whose order does not matter. It is sorted by its items, or by a key of each. */
export const sorted = (
  list: readonly SettingValue[],
  keyOf: (item: SettingValue) => SettingValue = (item) => item,
): readonly SettingValue[] =>
  list.toSorted((a, b) => (canonicalJson(keyOf(a)) < canonicalJson(keyOf(b)) ? -1 : 1));
