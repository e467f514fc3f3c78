import type { DeployerInPods } from "./deployer-in-pods.ts";

/** Answers of a part of Drover to Prometheus, which may read metrics, and to an account that may not. */
export async function readMetrics(
  drover: Pick<DeployerInPods, "kubectl" | "reach">,
  part: "bridge" | "deployer" | "gateway",
): Promise<{ readonly reader: number; readonly stranger: number }> {
  const inDrover = (...args: readonly string[]) => drover.kubectl([...args, "-n", "drover"]);
  const address = await inDrover(
    ...["get", "pods", "-l", `drover.dev/component=${part}`],
    ...["-o", "jsonpath={.items[0].status.podIP}"],
  );
  const { port } = await drover.reach(address.trim(), 8080);
  const status = async (account: string): Promise<number> => {
    const token = (await inDrover("create", "token", account)).trim();
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).status;
  };
  return { reader: await status("prometheus"), stranger: await status("default") };
}

/** Makes the account of Prometheus, and lets it read metrics. */
export async function allowPrometheus({ kubectl }: Pick<DeployerInPods, "kubectl">): Promise<void> {
  await kubectl(["create", "serviceaccount", "prometheus", "-n", "drover"]);
  await kubectl([
    ...["create", "clusterrolebinding", "prometheus", "--clusterrole=drover-metrics-reader"],
    "--serviceaccount=drover:prometheus",
  ]);
}
