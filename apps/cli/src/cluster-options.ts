import { type Command, InvalidArgumentError, Option } from "commander";
import type { CredentialSource, KubeClient } from "@drover/kube";
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";

export const clusterOptionsSchema = z.object({
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  namespace: z.string().optional(),
});
export type ClusterOptions = z.output<typeof clusterOptionsSchema>;

/** The options of every command that asks a cluster. */
export const withClusterOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--kubeconfig <file>", "default: KUBECONFIG, or ~/.kube/config").argParser(existingFile),
    )
    .option("--context <name>", "of that kubeconfig; default: its current one")
    .option("-n, --namespace <name>", "default: the context's");

/** For commands that look at Drover itself. */
export const droverNamespace = (): Option =>
  new Option("--drover-namespace <name>", "in which Drover is installed").default("drover");

export function existingFile(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return resolve(path);
  throw new InvalidArgumentError("There is no such file. Give the path of a kubeconfig.");
}

const ofHome = join(homedir(), ".kube/config");

/** A cluster, and where in it a person means. */
export interface Cluster {
  readonly client: KubeClient;
  /** What was said, or the context's. */
  readonly namespace: string;
}

/** The kubeconfig that is given, else those of KUBECONFIG, else that of the home folder. */
export async function kubeconfigOf({
  kubeconfig,
}: Pick<ClusterOptions, "kubeconfig">): Promise<CredentialSource["kubeconfig"]> {
  const { usualKubeconfig } = await import("@drover/runtime");
  return kubeconfig ?? usualKubeconfig([ofHome]);
}

/**
 * Does something with the cluster that a person means, and gives the connections back.
 * @throws KubeConfigError when there is no kubeconfig, or it cannot be used.
 */
export async function withCluster<T>(
  { context, namespace, ...said }: ClusterOptions,
  use: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const kubeconfig = await kubeconfigOf(said);
  const { connect, namespaceOf } = await import("@drover/kube");
  const source = { kubeconfig, context };
  const named = namespace ?? (await namespaceOf(source)) ?? "default";
  const client = await connect({ ...source, userAgent: "drover", fieldManager: "drover-cli" });
  try {
    return await use({ client, namespace: named });
  } finally {
    await client.close();
  }
}
