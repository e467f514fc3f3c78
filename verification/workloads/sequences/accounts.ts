import type { RealCluster } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { z } from "zod";
import { core } from "../../harness/manifests.ts";
import { boundRole } from "../../harness/rbac.ts";

const run = promisify(execFile);

/** A cluster, as its administrator reaches it. */
export type Administered = Pick<RealCluster, "kubectl" | "kubeconfigOfAccount">;

/** Of RBAC. */
export type Rule = z.output<typeof rule>;

const kind = z.object({ group: z.string(), plural: z.string() });
const rule = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
});
const manifest = z.object({
  spec: z.object({
    for: kind,
    owns: z.array(kind),
    watches: z.array(kind).default([]),
    permissions: z.object({ cluster: z.array(rule) }),
  }),
});

/** What a function may do by its manifest, and what a bridge must see for it. */
export function rulesIn(file: string): {
  readonly function: readonly Rule[];
  readonly bridge: readonly Rule[];
} {
  const { spec } = manifest.parse(parse(readFileSync(file, "utf8")));
  const followed = [spec.for, ...spec.owns, ...spec.watches];
  return {
    function: spec.permissions.cluster,
    bridge: followed.map(({ group, plural }) => ({
      apiGroups: [group],
      resources: [plural],
      verbs: ["list", "watch"],
    })),
  };
}

/**
 * Makes a ServiceAccount that may do this and nothing else, as the deployer does in a cluster, and writes its
 * kubeconfig. As there, it uses a token: the API server verifies a certificate again in each request.
 */
export async function accountThatMay(
  cluster: Administered,
  {
    name,
    rules,
    folder,
  }: { readonly name: string; readonly rules: readonly Rule[]; readonly folder: string },
): Promise<string> {
  const namespace = "kube-system";
  const made = join(folder, `${name}-account.json`);
  const items = [
    core("ServiceAccount", name, {}, namespace),
    ...boundRole({ name: `test:${name}` }, rules, { kind: "ServiceAccount", name, namespace }),
  ];
  writeFileSync(made, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  await run(cluster.kubectl, ["apply", "-f", made]);
  return cluster.kubeconfigOfAccount(namespace, name);
}
