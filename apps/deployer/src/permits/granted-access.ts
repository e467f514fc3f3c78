import { type Access, accessCount, accessesOf, type PolicyRule, TerminalError } from "@drover/controller";
import { builtin } from "@drover/kube";
import { z } from "zod";
import type { FunctionObject } from "../objects/function-object.ts";

/** The maximum number of accesses of a function, because each takes repeated requests to the API server. */
export const maxAccesses = 500;

const rulesSchema = z.array(
  z.strictObject({
    apiGroups: z.array(z.string()),
    resources: z.array(z.string()),
    verbs: z.array(z.string()),
    resourceNames: z.array(z.string()).optional(),
  }),
);

/**
 * Everything that the Roles and ClusterRoles among these objects grant. The accesses are read from the very objects
 * that are written, so nothing can be granted that was not reviewed.
 *
 * @throws TerminalError if they grant more than {@link maxAccesses}.
 */
export function grantedAccess(objects: readonly FunctionObject[]): readonly Access[] {
  const roles = objects.flatMap((one) => (one.wanted && one.reviewed !== false ? roleIn(one) : []));
  const count = roles.reduce((sum, { rules }) => sum + accessCount(rules), 0);
  if (count > maxAccesses) {
    throw new TerminalError(
      `It asks for ${count} permissions: each verb on each resource counts, and each name. Ask for ${maxAccesses} at most.`,
      { reason: "InvalidSpec" },
    );
  }
  return roles.flatMap(({ rules, namespace }) => accessesOf(rules, namespace));
}

interface GrantedRules {
  readonly rules: readonly PolicyRule[];
  readonly namespace?: string | undefined;
}

function roleIn({ ref, object }: FunctionObject): readonly GrantedRules[] {
  if (ref !== builtin.role && ref !== builtin.clusterRole) return [];
  // A rule with a field that is not known here, such as nonResourceURLs, must not be granted without a review.
  const rules = rulesSchema.parse(object["rules"]);
  const { namespace } = object.metadata;
  if (ref === builtin.role && namespace === undefined) throw new Error("A Role has no namespace.");
  return [ref === builtin.role ? { rules, namespace } : { rules }];
}
