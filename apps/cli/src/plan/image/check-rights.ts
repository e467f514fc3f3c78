import { type Access, describeAccess } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { CommandError } from "../../command-error.ts";
import { missingAccess } from "../../deploy/check-permissions.ts";

const accesses = (
  namespace: string,
  verbs: readonly string[],
  names: Pick<Access, "group" | "resource" | "subresource">,
): readonly Access[] => verbs.map((verb) => ({ namespace, verb, ...names }));

/** @throws CommandError with the missing rules, if the user may not run a Pod and call it. */
export async function checkPodRights(client: KubeClient, namespace: string): Promise<void> {
  const missing = await missingAccess(client, [
    ...accesses(namespace, ["create", "get", "delete"], { group: "", resource: "pods" }),
    ...accesses(namespace, ["create"], { group: "", resource: "pods", subresource: "proxy" }),
  ]);
  if (missing.length === 0) return;
  const rules = missing.map(({ verb, group, resource, subresource }) => ({
    apiGroups: [group],
    resources: [[resource, subresource].filter(Boolean).join("/")],
    verbs: [verb],
  }));
  const lines = rules.map((rule) => `- ${JSON.stringify(rule)}\n`);
  throw new CommandError(
    `--image runs the image in a Pod of the namespace ${namespace}, and calls it. You may not:\n` +
      missing.map((access) => `  - ${describeAccess(access)}\n`).join("") +
      `Ask for a Role in this namespace with these rules:\n${lines.join("")}` +
      "Or run the function yourself, and give its URL: --url URL",
  );
}

/** True if the user may make a NetworkPolicy, have it collected with a Pod, and delete it. */
export async function mayClosePod(client: KubeClient, namespace: string): Promise<boolean> {
  const policies = { group: "networking.k8s.io", resource: "networkpolicies" };
  const needed = accesses(namespace, ["create", "patch", "delete"], policies);
  return (await missingAccess(client, needed)).length === 0;
}
