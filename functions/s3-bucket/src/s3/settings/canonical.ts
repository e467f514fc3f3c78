import { canonicalJson, type SettingValue } from "@drover/external";

/** The fields of a value; none if it is not an object. */
export const fieldsOf = (
  value: SettingValue | undefined,
): { readonly [field: string]: SettingValue | undefined } =>
  typeof value === "object" && !isList(value) ? value : {};

export const isList = (value: SettingValue | undefined): value is readonly SettingValue[] =>
  Array.isArray(value);

/** A list whose order does not matter. */
export const sorted = (list: readonly SettingValue[]): readonly SettingValue[] =>
  list.toSorted((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
