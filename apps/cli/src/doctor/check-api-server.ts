import { objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, isApiError, type KubeClient, refOf, type ResourceRef } from "@drover/kube";
import { AuthorEpoch, authorEpochName, authorPolicyName } from "@drover/runtime";
import type { Finding } from "./finding.ts";

/** The API server's version, and what it offers for the policies that record the authors of functions. */
export async function checkApiServer(client: KubeClient): Promise<readonly Finding[]> {
  const subject = "API server";
  const version = await client.serverVersion();
  if (!(await isServed(client, builtin.validatingAdmissionPolicy))) {
    const message = `${version} has no ValidatingAdmissionPolicy, so Drover cannot record who writes a function.`;
    const next =
      "Use Kubernetes 1.30 or newer. For a cluster of your own, DROVER_AUTHORS=trusted does without.";
    return [{ level: "problem", subject, message, next }];
  }
  if (await isServed(client, builtin.mutatingAdmissionPolicy))
    return [{ level: "ok", subject, message: version }];
  const message = `${version} has no MutatingAdmissionPolicy: drover deploy writes the author into a function, kubectl does not.`;
  return [{ level: "ok", subject, message }];
}

/** The admission policies that record the authors of functions, and what the deployer has last found of them. */
export async function checkPolicies(client: KubeClient): Promise<readonly Finding[]> {
  const subject = "admission policies";
  const next = "Upgrade the installation: the chart has them. Not needed with DROVER_AUTHORS=trusted.";
  // Then the server itself is a finding.
  if (!(await isServed(client, builtin.validatingAdmissionPolicy))) return [];
  const policy = await client.get(builtin.validatingAdmissionPolicy, objectKey({ name: authorPolicyName }));
  if (policy === undefined)
    return [{ level: "warning", subject, message: `${authorPolicyName} is not installed.`, next }];
  const epoch = await client.get(refOf(AuthorEpoch), objectKey({ name: authorEpochName }));
  if (epoch !== undefined)
    return [{ level: "ok", subject, message: "installed, and accepted by the deployer" }];
  const message = `${authorPolicyName} is installed, but the deployer has not accepted it.`;
  return [{ level: "warning", subject, message, next: "See the deployer's log for what differs." }];
}

/** False if ReconcileFunctions are not served. */
export const isInstalled = (client: KubeClient): Promise<boolean> =>
  isServed(client, refOf(ReconcileFunction));

/** True if the kind is served in its version. */
async function isServed(client: KubeClient, ref: ResourceRef): Promise<boolean> {
  try {
    await client.list(ref, { limit: 1 });
    return true;
  } catch (error) {
    if (isApiError(error, "NotServed")) return false;
    // RBAC is asked first, also for what is not served.
    if (isApiError(error, "Forbidden")) return client.isServed(ref);
    throw error;
  }
}
