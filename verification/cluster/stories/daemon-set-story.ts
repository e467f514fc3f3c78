// A DaemonSet whose pods really run: it comes, rolls, is undone, and goes; and what is seen of it.
import { z } from "zod";
import { type PodCluster, scriptContainer } from "../pod-cluster.ts";

const forever = (version: string): string =>
  `/* ${version} && <on> */ setInterval(() => undefined, 1_000); process.once('SIGTERM', () => process.exit())`;
const daemonSet = (version: string, rollingUpdate: object) => ({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    updateStrategy: { type: "RollingUpdate", rollingUpdate },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: { terminationGracePeriodSeconds: 1, containers: [scriptContainer(forever(version))] },
    },
  },
});
const replacing = { maxUnavailable: 1, maxSurge: 0 };
const surging = { maxUnavailable: 0, maxSurge: 1 };

const seenSchema = z.object({
  items: z.array(
    z.looseObject({
      metadata: z.object({ labels: z.record(z.string(), z.string()).default({}) }),
      revision: z.number().optional(),
    }),
  ),
});

/** Plays it in a namespace of its own, and returns what two runs have in common. */
export async function playDaemonSet(cluster: PodCluster, namespace: string): Promise<unknown> {
  const of = `--namespace=${namespace}`;
  const kubectl = (args: readonly string[], input?: object) =>
    cluster.kubectl([of, ...args], input && { input: JSON.stringify(input) });
  const rolled = () => kubectl(["rollout", "status", "daemonset/agent", "--timeout=120s"]);
  const seen: unknown[] = [];
  const look = async (): Promise<void> => {
    await rolled();
    await kubectl(["wait", "--for=jsonpath={.status.numberAvailable}=1", "daemonset/agent", "--timeout=60s"]);
    const { items } = seenSchema.parse(
      JSON.parse(await kubectl(["get", "controllerrevisions", "-o", "json"])),
    );
    const status = JSON.parse(
      await kubectl(["get", "daemonset/agent", "-o", "jsonpath={.status}"]),
    ) as unknown;
    seen.push({ status, revisions: items.map(({ revision }) => revision).sort() });
  };
  await cluster.kubectl(["create", "namespace", namespace]);
  await kubectl(["apply", "-f", "-"], daemonSet("v1", replacing));
  await look();
  await kubectl(["apply", "-f", "-"], daemonSet("v2", replacing));
  await look();
  await kubectl(["apply", "-f", "-"], daemonSet("v3", surging));
  await look();
  await kubectl(["rollout", "undo", "daemonset/agent", "--to-revision=1"]);
  await look();
  await kubectl(["delete", "pods", "--all", "--timeout=60s"]);
  await look();
  await kubectl(["delete", "daemonset/agent", "--timeout=60s"]);
  await kubectl(["wait", "--for=delete", "pods", "--all", "--timeout=60s"]);
  return seen;
}
