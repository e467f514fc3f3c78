import type { LabelRequirement, LabelSelector } from "@drover/controller";
import { z } from "zod";

export type { LabelRequirement, LabelSelector } from "@drover/controller";

type Labels = Readonly<Record<string, string>>;

/** Matches as the API server does: `NotIn` also matches if the label is missing (apimachinery, labels.Requirement). */
export function matchesLabels(selector: LabelSelector, labels: Labels = {}): boolean {
  return (
    Object.entries(selector.matchLabels ?? {}).every(([name, value]) => valueOf(labels, name) === value) &&
    (selector.matchExpressions ?? []).every((requirement) => isSatisfied(requirement, labels))
  );
}

/** The selector as a request's `labelSelector`; empty if it selects everything. */
export function selectorQuery(selector: LabelSelector): string {
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(selector.matchExpressions ?? []).map(requirementQuery),
  ]
    .sort()
    .join(",");
}

const requirement = z.union([
  z.object({ key: z.string(), operator: z.enum(["In", "NotIn"]), values: z.array(z.string()) }),
  z.object({ key: z.string(), operator: z.enum(["Exists", "DoesNotExist"]) }),
]);
const selector = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(requirement).optional(),
});
const selecting = z.union([
  selector,
  z.record(z.string(), z.string()).transform((matchLabels): LabelSelector => ({ matchLabels })),
]);

/**
 * The selector that a field of an object is: a `meta/v1` LabelSelector, or a map of labels, as in a Service; undefined if
 * it is neither. An empty one selects everything.
 */
export const labelSelectorIn = (value: unknown): LabelSelector | undefined => selecting.safeParse(value).data;

const valueOf = (labels: Labels, name: string): string | undefined =>
  Object.hasOwn(labels, name) ? labels[name] : undefined;

function isSatisfied(requirement: LabelRequirement, labels: Labels): boolean {
  const value = valueOf(labels, requirement.key);
  switch (requirement.operator) {
    case "In":
      return value !== undefined && requirement.values.includes(value);
    case "NotIn":
      return value === undefined || !requirement.values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

function requirementQuery(requirement: LabelRequirement): string {
  const { key, operator } = requirement;
  switch (operator) {
    case "In":
    case "NotIn":
      return `${key} ${operator.toLowerCase()} (${[...requirement.values].sort().join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
  }
}
