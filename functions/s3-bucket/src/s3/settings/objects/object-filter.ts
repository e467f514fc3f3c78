import { checkedAtRun } from "@drover/controller";
import { isList, type SettingValue } from "@drover/external";
import { z } from "zod";
import { fieldsOf, sorted } from "../canonical.ts";

const prefix = z.string().max(1024).optional();
const tag = z.object({ key: z.string().min(1).max(128), value: z.string().max(256) });

/**
 * The schema of a filter: one condition, or several in `and`. `more` are conditions beside the prefix and tags. A
 * condition that stands both in `and` and beside it is refused: an object has one prefix, and neither of two can be meant.
 */
export function filterSpec<More extends z.ZodRawShape>(more: More) {
  const single = ["prefix", ...Object.keys(more)];
  const filter = z.object({
    prefix,
    tag: tag.optional(),
    ...more,
    and: z
      .object({ prefix, tags: z.array(tag).max(50).optional(), ...more })
      .optional()
      .describe("For more than one condition."),
  });
  return filter
    .refine((value) => repeatedConditions(value, single).length === 0, {
      error: ({ input }) => conditionTwice(repeatedConditions(input, single).join(" and ")),
      ...checkedAtRun,
    })
    .meta({
      kubernetes: {
        cel: single.map((name) => ({
          rule: `!has(self.${name}) || !has(self.and) || !has(self.and.${name})`,
          message: conditionTwice(name),
        })),
      },
    });
}

const conditionTwice = (name: string): string =>
  `${name} is both in the filter and in its \`and\`; remove one`;

const record = z.record(z.string(), z.unknown());

/** The conditions that a filter has twice, of these. */
function repeatedConditions(filter: unknown, names: readonly string[]): readonly string[] {
  const beside = record.parse(filter);
  const inside = record.parse(beside["and"] ?? {});
  return names.filter((name) => beside[name] !== undefined && inside[name] !== undefined);
}

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
