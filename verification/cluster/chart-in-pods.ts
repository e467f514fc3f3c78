import { buildRealCluster } from "@drover/real-cluster";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chart, type Helm, openHelm } from "../chart/helm.ts";
import type { WantedImage } from "../../infra/cluster/wanted-image.ts";
import { type PodCluster, startPodClusterAs } from "./pod-cluster.ts";

export const parts = ["bridge", "deployer", "gateway"] as const;
/** In place of Valkey 9.1: that of the Python wheel has no TLS. */
const redis = "valkey/valkey:redis-7";
export const redisValue = `images.valkey=${redis}`;

/** A cluster as an administrator gives it to a user: without Drover. */
export interface EmptyCluster extends PodCluster {
  readonly helm: Helm;
  /** The program. */
  readonly kubectlCommand: string;
  /** The URL of the chart in a registry. */
  readonly chartUrl: string;
  /** `kubectl -n drover`. */
  inDrover(...args: readonly string[]): Promise<string>;
  /** Resolves when all Pods of the installation are those of its present manifests, and Ready. */
  installed(): Promise<void>;
}

/**
 * Pods must be as Kubernetes' strictest standard has it, in all namespaces. The only volume is a folder of the node. The chart
 * and the images are in a registry; the chart with the version of the images.
 *
 * @param folder for files.
 * @param versions of the chart and of the images of the parts. Their content is the present one.
 */
export async function startEmptyCluster(
  folder: string,
  versions: readonly string[] = ["0.1.0"],
  ...images: readonly WantedImage[]
): Promise<EmptyCluster> {
  const { bin } = await buildRealCluster();
  const admission = join(folder, "admission.json");
  writeFileSync(admission, JSON.stringify(restricted));
  const ofParts = versions.flatMap((version) =>
    parts.map((part) => ({ of: part, as: `drover/${part}:${version}` })),
  );
  const cluster = await startPodClusterAs(
    { apiServerArgs: [`--admission-control-config-file=${admission}`] },
    ...ofParts,
    { of: "redis-7", as: redis },
    ...images,
  );
  const inDrover: EmptyCluster["inDrover"] = (...args) => cluster.kubectl(["-n", "drover", ...args]);
  try {
    const data = join(folder, "volume");
    mkdirSync(data);
    await cluster.apply(volumeIn(data));
    const helm = await openHelm(folder, cluster.kubeconfigOutside);
    const { port } = await cluster.reach("127.0.0.1", Number(cluster.registry.split(":")[1]));
    const registry = `oci://127.0.0.1:${port}/charts`;
    for (const version of versions) {
      await helm.run("package", chart, "-d", folder, `--version=${version}`, `--app-version=${version}`);
      await helm.run("push", join(folder, `drover-${version}.tgz`), registry, "--plain-http");
    }
    return {
      ...cluster,
      helm,
      inDrover,
      kubectlCommand: join(bin, "kubectl"),
      chartUrl: `${registry}/drover`,
      async installed() {
        const all = [...parts.map((part) => `deployment/${part}`), "statefulset/valkey"];
        await Promise.all(all.map((what) => inDrover("rollout", "status", "--timeout=180s", what)));
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

const restricted = {
  apiVersion: "apiserver.config.k8s.io/v1",
  kind: "AdmissionConfiguration",
  plugins: [
    {
      name: "PodSecurity",
      configuration: {
        apiVersion: "pod-security.admission.config.k8s.io/v1",
        kind: "PodSecurityConfiguration",
        defaults: { enforce: "restricted", "enforce-version": "latest" },
      },
    },
  ],
};

const volumeIn = (path: string) => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "disk" },
  spec: {
    capacity: { storage: "4Gi" },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    local: { path },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "Exists" }] }],
      },
    },
  },
});
