import { isList, type SettingValue } from "@drover/external";
import { z } from "zod";
import { fieldsOf, sorted } from "../canonical.ts";

const prefix = z.string().max(1024).optional();
const tag = z.object({ key: z.string().min(1).max(128), value: z.string().max(256) });

/** The schema of a filter: one condition, or several in `and`. `more` are conditions beside the prefix and tags. */
export const filterSpec = <More extends z.ZodRawShape>(more: More) =>
  z.object({
    prefix,
    tag: tag.optional(),
    ...more,
    and: z
      .object({ prefix, tags: z.array(tag).max(50).optional(), ...more })
      .optional()
      .describe("For more than one condition."),
  });

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
