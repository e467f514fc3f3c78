import type { SettingValue } from "@drover/external";
import { fieldsOf, isList, sorted } from "../canonical.ts";

/** The filter of a rule for all objects of a bucket. */
export const allObjects = { prefix: "" };

/**
 * One spelling of a rule's filter.
 *
 * @param prefix the rule's own, which rules of old clients have in place of a filter.
 */
export function canonicalFilter(
  filter: SettingValue | undefined,
  prefix: SettingValue | undefined,
): SettingValue {
  const { and, ...single } = fieldsOf(filter);
  if (and === undefined) return Object.keys(single).length > 0 ? single : { prefix: prefix ?? "" };
  const { tags, ...conditions } = fieldsOf(and);
  return { and: { ...conditions, tags: isList(tags) ? sorted(tags) : undefined } };
}
