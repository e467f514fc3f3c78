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

export const kubeconfigOption = (): Option =>
  new Option(
    "--kubeconfig <file>",
    "kubeconfig of the cluster; default: KUBECONFIG, or ~/.kube/config",
  ).argParser(existingFile);

export const contextOption = (): Option =>
  new Option("--context <name>", "context of that kubeconfig; default: its current one");

/** The options of every command that connects to a cluster. */
export const withClusterOptions = (command: Command): Command =>
  command
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .option("-n, --namespace <name>", "namespace to use; default: the one of the context");

/** For commands that check Drover itself. */
export const droverNamespace = (): Option =>
  new Option("--drover-namespace <name>", "namespace in which Drover is installed").default("drover");

export function existingFile(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return resolve(path);
  throw new InvalidArgumentError("There is no such file. Give the path of a kubeconfig.");
}

const homeKubeconfig = join(homedir(), ".kube/config");

/** A connection to a cluster, and the namespace that a command works in. */
export interface SelectedCluster {
  readonly client: KubeClient;
  /** From --namespace, else the context's. */
  readonly namespace: string;
}

/** The given kubeconfig, else those of KUBECONFIG, else the one in the home folder. */
export async function resolveKubeconfig({
  kubeconfig,
}: Pick<ClusterOptions, "kubeconfig">): Promise<CredentialSource["kubeconfig"]> {
  const { defaultKubeconfig } = await import("@drover/runtime");
  return kubeconfig ?? defaultKubeconfig([homeKubeconfig]);
}

/**
 * Calls `use` with the cluster that the options select, and closes the connections afterwards.
 * @throws KubeConfigError if no kubeconfig is found, or it cannot be used.
 */
export async function withCluster<T>(
  { context, namespace, ...location }: ClusterOptions,
  use: (cluster: SelectedCluster) => Promise<T>,
): Promise<T> {
  const kubeconfig = await resolveKubeconfig(location);
  const { connect, contextNamespace } = await import("@drover/kube");
  const source = { kubeconfig, context };
  const named = namespace ?? (await contextNamespace(source)) ?? "default";
  const client = await connect({ ...source, userAgent: "drover", fieldManager: "drover-cli" });
  try {
    return await use({ client, namespace: named });
  } finally {
    await client.close();
  }
}
