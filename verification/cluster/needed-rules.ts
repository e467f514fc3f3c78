import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import type { AuditedRequest } from "@drover/real-cluster";

export const ruleSchema = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
});
export type RoleRule = z.output<typeof ruleSchema>;
const roleSchema = z.object({ kind: z.literal("ClusterRole"), rules: z.array(ruleSchema) });

/** The rules of all ClusterRoles in a file, relative to the root. */
export function rulesIn(path: string): readonly RoleRule[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  return parseAllDocuments(text).flatMap(
    (document) => roleSchema.safeParse(document.toJS()).data?.rules ?? [],
  );
}

/** Each single thing that rules allow, as in `get pods` and `patch roles.rbac.authorization.k8s.io`. */
export const allowedBy = (rules: readonly RoleRule[]): readonly string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => wordsOf({ group, resource, verb }))),
    ),
  );

/** What a user asked for and was not refused, in the same words. */
export const usedBy = (requests: readonly AuditedRequest[], user: string): ReadonlySet<string> =>
  new Set(requests.filter((one) => one.user === user && one.code !== 403).map(wordsOf));

const wordsOf = ({ verb, resource, group }: Pick<AuditedRequest, "verb" | "resource" | "group">): string =>
  `${verb} ${resource}${group === "" ? "" : `.${group}`}`;

/** These rules without one thing that they allow. */
export const without = (rules: readonly RoleRule[], verb: string, resource: string): readonly RoleRule[] =>
  rules.flatMap((rule) =>
    rule.resources.includes(resource) && rule.verbs.includes(verb)
      ? [
          { ...rule, resources: rule.resources.filter((one) => one !== resource) },
          { ...rule, resources: [resource], verbs: rule.verbs.filter((one) => one !== verb) },
        ].filter(({ resources, verbs }) => resources.length > 0 && verbs.length > 0)
      : [rule],
  );
