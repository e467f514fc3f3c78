/** A `meta/v1` LabelSelector: all of it must hold; an empty one holds always. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelRequirement[] | undefined;
}

export type LabelRequirement =
  | { readonly key: string; readonly operator: "In" | "NotIn"; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: "Exists" | "DoesNotExist" };

type Labels = Readonly<Record<string, string>>;

/** As the API server decides it: `NotIn` also holds where the label is missing (apimachinery, labels.Requirement). */
export function matchesLabels(selector: LabelSelector, labels: Labels = {}): boolean {
  return (
    Object.entries(selector.matchLabels ?? {}).every(([name, value]) => valueOf(labels, name) === value) &&
    (selector.matchExpressions ?? []).every((requirement) => holds(requirement, labels))
  );
}

/** As a request's `labelSelector`; empty when it selects everything. */
export function selectorQuery(selector: LabelSelector): string {
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(selector.matchExpressions ?? []).map(requirementQuery),
  ]
    .sort()
    .join(",");
}

const valueOf = (labels: Labels, name: string): string | undefined =>
  Object.hasOwn(labels, name) ? labels[name] : undefined;

function holds(requirement: LabelRequirement, labels: Labels): boolean {
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
