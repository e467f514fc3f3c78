import {
  type ObjectMetadata,
  type PermissionRule,
  type ReconcileFunctionSpec,
  RetryAfterError,
} from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { z } from "zod";
import { followedBy } from "./bridge-role.ts";

/** Who wrote a function's spec last: the API server's admission policy writes it, and lets nobody else write it. */
export const authorAnnotations = { user: "drover.dev/author", groups: "drover.dev/author-groups" } as const;

/** Who asks for a function, as far as the API server says so. */
export function authorOf({ annotations = {} }: ObjectMetadata) {
  const { [authorAnnotations.user]: user, [authorAnnotations.groups]: groups = "" } = annotations;
  return { user, groups: groups.split("\n").filter((group) => group !== "") };
}

/** One thing that somebody may do or not, as a SubjectAccessReview has it. */
export interface Access {
  readonly namespace?: string | undefined;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * All that whoever deploys this function must be allowed: to see what it is told of; what its ServiceAccount may do; to
 * run Pods beside the Secrets of its namespace; and, where the gateway reads and writes objects on its behalf, that.
 */
export function neededOf(spec: ReconcileFunctionSpec, namespace: string): readonly Access[] {
  const { permissions = {}, container, delivery } = spec;
  return [
    ...followedBy(spec),
    ...(permissions.namespace ?? []).flatMap((rule) => accessesOf(rule, namespace)),
    ...(permissions.cluster ?? []).flatMap((rule) => accessesOf(rule)),
    ...(container === undefined ? [] : [{ namespace, verb: "create", group: "", resource: "pods" }]),
    ...(delivery === "webhook" ? ofGateway(spec.for) : []),
  ];
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

function ofGateway({ group, plural: resource, namespaces }: ReconcileFunctionSpec["for"]): Access[] {
  const verbs = ["get", "patch", "update"];
  return (namespaces ?? [undefined]).flatMap((namespace) => [
    ...verbs.map((verb) => ({ namespace, verb, group, resource })),
    { namespace, verb: "update", group, resource, subresource: "status" },
  ]);
}

const answerSchema = z.looseObject({ allowed: z.boolean() });
/** Questions that are asked at once. */
const atOnce = 8;

/**
 * @throws RetryAfterError naming who lacks what: it may be granted at any time.
 */
export async function refuseUnlessHeld(
  client: KubeClient,
  { metadata, needed }: { readonly metadata: ObjectMetadata; readonly needed: readonly Access[] },
  signal: AbortSignal,
): Promise<void> {
  const { user, groups } = authorOf(metadata);
  if (user === undefined) {
    throw refusal(
      "Nobody knows who asks for this function: it was written before the admission policies that say so. " +
        "Install them (authors.yaml), and change its spec.",
    );
  }
  for (let i = 0; i < needed.length; i += atOnce) {
    const answers = needed.slice(i, i + atOnce).map(async (access) => {
      const spec = { user, groups, resourceAttributes: access };
      const status = await client.review(builtin.subjectAccessReview, spec, { signal });
      return { access, ...answerSchema.parse(status) };
    });
    // The first in the spec, not the first that was answered: a status that says another thing each time is never at rest.
    const denied = (await Promise.all(answers)).find(({ allowed }) => !allowed);
    if (denied !== undefined) throw refusal(lacking(user, denied.access));
  }
}

const lacking = (user: string, access: Access): string =>
  `${user} asks for this function, and may not ${accessWords(access)}. ` +
  "Ask for less, or have somebody change it who may.";

/** What somebody may do or not, as a person says it: `get secrets named a in namespace b`. */
export const accessWords = ({ namespace, verb, group, resource, subresource, name }: Access): string =>
  `${verb} ${[resource, subresource].filter(Boolean).join("/")}` +
  `${group === "" ? "" : ` of ${group}`}${name === undefined ? "" : ` named ${name}`} ` +
  (namespace === undefined ? "in all namespaces" : `in namespace ${namespace}`);

const refusal = (message: string): RetryAfterError =>
  new RetryAfterError(message, { after: "1m", reason: "PermissionNotHeld" });
