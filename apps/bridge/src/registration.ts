import type { ReconcileFunctionSpec } from "@drover/controller";
import {
  type FieldPath,
  InvalidFieldPathError,
  type LabelSelector,
  type Mapping,
  parseFieldPath,
  refOf,
  type ResourceRef,
  type Subscription,
} from "@drover/kube";

/** A controller that the bridge wakes keys for. */
export interface Registration {
  readonly controller: string;
  /** Another uid is another registration, though the name is the same: everything is told to it anew. */
  readonly uid: string;
  readonly follows: readonly Follow[];
}

/** A kind that a controller follows, and why. */
export interface Follow {
  readonly ref: ResourceRef;
  readonly subscription: Omit<Subscription, "id">;
}

/** A registration that cannot be used. The message says where and what to change. */
export class InvalidRegistrationError extends Error {
  override readonly name = "InvalidRegistrationError";
}

/** @throws InvalidRegistrationError naming the field. */
export function registrationOf(controller: string, uid: string, spec: ReconcileFunctionSpec): Registration {
  const own = refOf(spec.for);
  const follow = (of: Watched, map: Mapping, at: string): Follow => ({
    ref: refOf(of),
    subscription: { for: own, map, ...predicatesOf(of, at) },
  });
  return {
    controller,
    uid,
    follows: [
      follow(spec.for, { by: "self" }, "spec.for"),
      ...(spec.owns ?? []).map((of, i) => follow(of, { by: "owner" }, `spec.owns[${i}]`)),
      ...(spec.watches ?? []).map((of, i) => {
        const at = `spec.watches[${i}]`;
        return follow(of, mappingOf(of.names, `${at}.names`), at);
      }),
    ],
  };
}

type Watched = ReconcileFunctionSpec["for"];
type Naming = NonNullable<ReconcileFunctionSpec["watches"]>[number]["names"];

function predicatesOf({ namespaces, labelSelector, changed, scope }: Watched, at: string) {
  if (namespaces !== undefined && scope === "Cluster") {
    throw new InvalidRegistrationError(`${at}.namespaces: a cluster-scoped kind has none. Leave it out.`);
  }
  return {
    namespaces: namespaces?.toSorted(),
    selector: labelSelector && selectorOf(labelSelector, `${at}.labelSelector`),
    changed: changed?.map((path, i) => pathOf(path, `${at}.changed[${i}]`)),
  };
}

function selectorOf(
  { matchLabels, matchExpressions = [] }: NonNullable<Watched["labelSelector"]>,
  at: string,
): LabelSelector {
  return {
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }, i) => {
      const takesValues = operator === "In" || operator === "NotIn";
      if (takesValues !== values.length > 0) {
        throw new InvalidRegistrationError(
          `${at}.matchExpressions[${i}].values: ${operator} takes ${takesValues ? "at least one value" : "none"}.`,
        );
      }
      return takesValues ? { key, operator, values } : { key, operator };
    }),
  };
}

function mappingOf({ label, annotation, field, acrossNamespaces }: Naming, at: string): Mapping {
  const reach = { acrossNamespaces };
  const given: readonly Mapping[] = [
    ...(label === undefined ? [] : [{ by: "label", name: label, ...reach } as const]),
    ...(annotation === undefined ? [] : [{ by: "annotation", name: annotation, ...reach } as const]),
    ...(field === undefined ? [] : [{ by: "field", path: pathOf(field, `${at}.field`), ...reach } as const]),
  ];
  const [mapping] = given;
  if (mapping === undefined || given.length > 1) {
    throw new InvalidRegistrationError(`${at}: give exactly one of label, annotation and field.`);
  }
  return mapping;
}

function pathOf(text: string, at: string): FieldPath {
  try {
    return parseFieldPath(text);
  } catch (error) {
    if (!(error instanceof InvalidFieldPathError)) throw error;
    throw new InvalidRegistrationError(`${at}: ${error.message}`);
  }
}
