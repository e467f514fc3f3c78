import type { PermissionRule } from "./function-deployment.ts";
import type { ReconcileFunctionSpec } from "./reconcile-function.ts";

/** One thing that somebody may do or not, as a SubjectAccessReview has it. */
export interface Access {
  readonly namespace?: string | undefined;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly name?: string | undefined;
}

/** What somebody may do or not, as a person says it: `get secrets named a in namespace b`. */
export const accessWords = ({ namespace, verb, group, resource, subresource, name }: Access): string =>
  `${verb} ${[resource, subresource].filter(Boolean).join("/")}` +
  `${group === "" ? "" : ` of ${group}`}${name === undefined ? "" : ` named ${name}`} ` +
  (namespace === undefined ? "in all namespaces" : `in namespace ${namespace}`);

/** The kinds that a function is told of. */
export const followedKinds = (spec: ReconcileFunctionSpec) => [
  spec.for,
  ...(spec.owns ?? []),
  ...(spec.watches ?? []),
];

/**
 * All that whoever deploys this function must be allowed: to see what it is told of; what its ServiceAccount may do; to
 * run Pods beside the Secrets of its namespace; and, where the gateway reads and writes objects on its behalf, that.
 *
 * @param namespace the function's.
 */
export function neededAccess(spec: ReconcileFunctionSpec, namespace: string): readonly Access[] {
  const { permissions = {}, container } = spec;
  return [
    ...followedAccess(spec),
    ...(permissions.namespace ?? []).flatMap((rule) => accessesOf(rule, namespace)),
    ...(permissions.cluster ?? []).flatMap((rule) => accessesOf(rule)),
    ...(container === undefined ? [] : [{ namespace, verb: "create", group: "", resource: "pods" }]),
    ...calledAccess(spec),
  ];
}

/** What the bridge does for a function: it tells of keys and changes, which not everybody may see. */
export const followedAccess = (spec: ReconcileFunctionSpec): readonly Access[] =>
  followedKinds(spec).flatMap(({ group, plural: resource, namespaces }) =>
    (namespaces ?? [undefined]).flatMap((namespace) =>
      ["list", "watch"].map((verb) => ({ namespace, verb, group, resource })),
    ),
  );

/** What the gateway does for a function that is called. */
export function calledAccess({ delivery, for: kind }: ReconcileFunctionSpec): readonly Access[] {
  if (delivery !== "webhook") return [];
  const { group, plural: resource, namespaces } = kind;
  return (namespaces ?? [undefined]).flatMap((namespace) => [
    ...["get", "patch", "update"].map((verb) => ({ namespace, verb, group, resource })),
    { namespace, verb: "update", group, resource, subresource: "status" },
  ]);
}

function accessesOf(
  { apiGroups, resources, verbs, resourceNames }: PermissionRule,
  namespace?: string,
): Access[] {
  const names = resourceNames ?? [undefined];
  return apiGroups.flatMap((group) =>
    resources.flatMap((path) => {
      const [resource = "", subresource] = path.split("/");
      return verbs.flatMap((verb) =>
        names.map((name) => ({ namespace, verb, group, resource, subresource, name })),
      );
    }),
  );
}
