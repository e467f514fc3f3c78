import { isInt64 } from "@drover/json";
import { optional } from "@drover/workloads";
import { z } from "zod";
import type { Node } from "./node.ts";

const requirement = z.looseObject({
  key: z.string(),
  operator: z.string(),
  values: optional(z.array(z.string())),
});
type Requirement = z.output<typeof requirement>;

const term = z.looseObject({
  matchExpressions: optional(z.array(requirement)),
  matchFields: optional(z.array(requirement)),
});
type Term = z.output<typeof term>;

/** The part of `v1` Affinity that nodes must match. */
export const affinitySchema = optional(
  z.looseObject({
    nodeAffinity: optional(
      z.looseObject({
        requiredDuringSchedulingIgnoredDuringExecution: optional(
          z.looseObject({ nodeSelectorTerms: optional(z.array(term)) }),
        ),
      }),
    ),
  }),
);
export type Affinity = z.output<typeof affinitySchema>;

/** The field of a node that `matchFields` can name. */
const nameField = "metadata.name";

const requiredTerms = (affinity: Affinity): readonly Term[] | undefined => {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required && (required.nodeSelectorTerms ?? []);
};

/** True if a node matches one of the required terms, or there are none to match. */
export function matchesAffinity(affinity: Affinity, node: Node): boolean {
  const terms = requiredTerms(affinity);
  return terms === undefined || terms.some((one) => matchesTerm(one, node));
}

/** All requirements of a term must match. A term without requirements matches no node. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: Term, { metadata }: Node): boolean {
  const labels = new Map(Object.entries(metadata.labels ?? {}));
  const fields = new Map([[nameField, metadata.name]]);
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((one) => matches(one, labels)) &&
    matchFields.every((one) => one.values?.length === 1 && matches(one, fields))
  );
}

/** As labels match in Kubernetes: `NotIn` also if there is no value, the comparisons only between integers. */
function matches({ key, operator, values = [] }: Requirement, of: ReadonlyMap<string, string>): boolean {
  const value = of.get(key);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [mine, bound] = [integerIn(value), integerIn(values[0])];
      if (mine === undefined || bound === undefined || values.length !== 1) return false;
      return operator === "Gt" ? mine > bound : mine < bound;
    }
    default:
      return false;
  }
}

function integerIn(text = ""): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const integer = BigInt(text.replace("+", ""));
  return isInt64(integer) ? integer : undefined;
}

/** The affinity with required terms that only this node matches, in place of those that it has. */
export function pinnedTo(affinity: Affinity, node: string): object {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const matchFields = [{ key: nameField, operator: "In", values: [node] }];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { ...required, nodeSelectorTerms: [{ matchFields }] },
    },
  };
}

/** The only node that this affinity names; undefined if it names none, or several. */
export function nodePinnedBy(affinity: Affinity): string | undefined {
  const pins = (requiredTerms(affinity) ?? [])
    .flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === nameField && operator === "In");
  return pins?.values?.length === 1 ? pins.values[0] : undefined;
}
