import { type Command, InvalidArgumentError, Option } from "commander";
import type { KubeClient } from "@drover/kube";
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { CommandError } from "./command-error.ts";

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

/** @throws CommandError when nobody says which. */
export async function kubeconfigOf({ kubeconfig }: Pick<ClusterOptions, "kubeconfig">): Promise<string> {
  const { usualKubeconfig } = await import("@drover/runtime");
  const found = kubeconfig ?? usualKubeconfig([ofHome]);
  if (found !== undefined) return found;
  throw new CommandError("Which cluster? Give --kubeconfig, or set KUBECONFIG.");
}

/**
 * Does something with the cluster that a person means, and gives the connections back.
 * @throws CommandError when nobody says which; KubeConfigError when it cannot be used.
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
