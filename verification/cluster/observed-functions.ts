import { z } from "zod";
import type { DeployerInPods } from "./deployer-in-pods.ts";
import { podSchema } from "./pod-cluster.ts";

const conditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
});
const functionSchema = z.object({
  status: z.object({ conditions: z.array(conditionSchema).default([]) }).default({ conditions: [] }),
});
const metadata = z.object({
  uid: z.string(),
  name: z.string(),
  annotations: z.record(z.string(), z.string()),
});
const podsSchema = z.object({ items: z.array(podSchema.extend({ metadata })) });
const namesSchema = z.object({
  items: z.array(z.object({ kind: z.string(), metadata: z.object({ name: z.string() }) })),
});
const statusSchema = z.object({ status: z.looseObject({}).default({}) });

const kinds = "serviceaccounts,services,secrets,roles,rolebindings,networkpolicies,pods,endpointslices";

/** kubectl's view of a function, and of the objects that were made for it. */
export function observedFunctions({ read }: Pick<DeployerInPods, "read">) {
  const ours = (name: string) => ["-l", `drover.dev/function=${name}`];
  const podsOf = async (name: string) => (await read(["pods", ...ours(name)], podsSchema)).items;
  return {
    podsOf,
    async conditionOf(name: string, type = "Ready") {
      const { status } = await read(["reconcilefunction", name], functionSchema);
      return status.conditions.find((one) => one.type === type);
    },
    async revisionsOf(name: string) {
      return (await podsOf(name)).map((pod) => pod.metadata.annotations["drover.dev/revision"]);
    },
    async statusOf(object: string) {
      return (await read([object], statusSchema)).status;
    },
    /** All that has its label, as in `Role tasks`. */
    async objectsOf(name: string) {
      const [here, everywhere] = await Promise.all([
        read([kinds, ...ours(name)], namesSchema),
        read(["clusterroles,clusterrolebindings", ...ours(name)], namesSchema),
      ]);
      const all = [...here.items, ...everywhere.items];
      return all.map(({ kind, metadata: { name: called } }) => `${kind} ${called}`).sort();
    },
  };
}
