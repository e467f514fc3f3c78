import { redisUserRules } from "@drover/queue";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { WantedImage } from "../../infra/cluster/wanted-image.ts";
import { type PodCluster } from "./pod-cluster.ts";
import { valkey } from "./workloads.ts";

const root = new URL("../..", import.meta.url).pathname;
const valkeyImage = "valkey/valkey:9";
const parts = ["bridge", "deployer", "gateway"] as const;

/** What the parts of Drover run from. */
export const partImages: readonly WantedImage[] = [
  ...parts.map((part) => ({ of: part, as: `drover/${part}:0.1.0` })),
  { of: "valkey", as: valkeyImage },
];

/** The manifests of an installation with deployer, in their order. */
const installed = [
  "apps/bridge/deploy/crd.yaml",
  "apps/bridge/deploy/rbac.yaml",
  "apps/deployer/deploy/authors.yaml",
  "apps/deployer/deploy/rbac.yaml",
  "apps/gateway/deploy/rbac.yaml",
  ...parts.map((part) => `apps/${part}/deploy/network-policies.yaml`),
];

/**
 * Bridge, deployer, gateway and Valkey, in the namespace `drover`; and a namespace for functions, in which Pods must be as
 * Kubernetes' strictest standard has it. Resolves when all are available.
 */
export async function installDeployer(cluster: PodCluster, home: string): Promise<void> {
  const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
  const namespaces = ["drover", home].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: restricted },
  }));
  const secrets = parts.map((name) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${name}-redis` },
    stringData: { password: `secret-of-${name}` },
  }));
  await cluster.apply(...namespaces);
  await applyIn(cluster, "drover", ...secrets, ...valkey(valkeyImage, users));
  await cluster.kubectl(["apply", ...installed.flatMap((file) => ["-f", join(root, file)])]);
  await cluster.apply(...(await Promise.all(parts.map(deploymentOf))));
  await cluster.wait("condition=Established", "crd/reconcilefunctions.drover.dev");
  const deployments = ["valkey", ...parts].map((name) => `deployment/${name}`);
  await cluster.wait("condition=Available", "--namespace=drover", ...deployments);
}

const certificates = "redis-ca";

/** A part's Deployment, but for TLS: the Valkey of these images has none. */
async function deploymentOf(part: (typeof parts)[number]): Promise<object> {
  const file = join(root, `apps/${part}/deploy/deployment.yaml`);
  const text = (await readFile(file, "utf8")).replaceAll("rediss://", "redis://");
  // As kubectl reads it: 0440 is octal.
  const manifest = deploymentSchema.parse(parse(text, { version: "1.1" }));
  const { spec } = manifest.spec.template;
  for (const container of spec.containers) {
    container.env = container.env.filter(({ name }) => name !== "DROVER_REDIS_CA_FILE");
    container.volumeMounts = container.volumeMounts.filter(({ name }) => name !== certificates);
  }
  spec.volumes = spec.volumes.filter(({ name }) => name !== certificates);
  return manifest;
}

const named = z.array(z.looseObject({ name: z.string() }));
const deploymentSchema = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.array(z.looseObject({ env: named, volumeMounts: named })),
        volumes: named,
      }),
    }),
  }),
});

/** `kubectl apply` in a namespace. */
export async function applyIn(
  cluster: PodCluster,
  namespace: string,
  ...items: readonly object[]
): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.kubectl(["apply", "-n", namespace, "-f", "-"], { input });
}

const users = [
  ...parts.map((role) => `${role} ${redisUserRules({ role, controllers: "all" })} >secret-of-${role}`),
  "admin on ~* &* +@all >admin",
  "default off",
];
