import type { ObjectClient } from "@drover/controller";
import { builtin, kubeObjectSchema } from "@drover/kube";
import { conditionOf } from "@drover/workloads";
import { z } from "zod";
import { zoneLabel } from "../pods/read-nodes.ts";

/** The share of each zone in the processors of the cluster; they add up to 1. */
export type ZoneShares = ReadonlyMap<string, number>;

const nodeSchema = z.looseObject({
  ...kubeObjectSchema.shape,
  status: z
    .looseObject({
      allocatable: z.looseObject({ cpu: z.string().optional() }).default({}),
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
    })
    .prefault({}),
});

const controlPlaneLabels = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/** The shares of the zones, by the nodes that are ready; undefined if one has no zone or processors, or there is one zone. */
export async function readZoneShares(
  client: ObjectClient,
  signal: AbortSignal,
): Promise<ZoneShares | undefined> {
  const cpus = new Map<string, number>();
  for (const object of await client.find(builtin.node, { signal })) {
    const { metadata, status } = nodeSchema.parse(object);
    const { labels = {} } = metadata;
    if (controlPlaneLabels.some((label) => Object.hasOwn(labels, label))) continue;
    if (conditionOf(status.conditions, "Ready")?.status !== "True") continue;
    const zone = labels[zoneLabel] ?? "";
    const cpu = cpuIn(status.allocatable.cpu ?? "0");
    if (zone === "" || cpu === 0) return undefined;
    cpus.set(zone, (cpus.get(zone) ?? 0) + cpu);
  }
  const total = [...cpus.values()].reduce((a, b) => a + b, 0);
  return cpus.size < 2 ? undefined : new Map([...cpus].map(([zone, cpu]) => [zone, cpu / total]));
}

const units: Readonly<Record<string, number>> = { n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6 };

/** A quantity of processors, in thousandths as in kube-controller-manager; 0 if it cannot be read. */
function cpuIn(quantity: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([numkM]?)$/.exec(quantity) ?? [];
  return number === undefined ? 0 : Math.ceil(Number(number) * (units[unit] ?? 0) * 1_000);
}
