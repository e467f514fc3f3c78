import { defineController } from "drover";
import { finalizeExternal, reconcileExternal } from "drover/external";
import { builtin, kindOf } from "drover/kube";
import type { LoadBalancerPorts } from "./elb/elb-port.ts";
import { LoadBalancer } from "./load-balancer.ts";
import { publishAddress, readService, withdrawAddress } from "./service.ts";
import { endpointSlice, readTargets } from "./targets.ts";

/** The controller of LoadBalancer objects. A change of the Service, its Pods or the nodes wakes them. */
export const loadBalancerController = (balancers: LoadBalancerPorts) =>
  defineController({
    for: LoadBalancer,
    watches: [
      {
        kind: kindOf(builtin.service),
        names: { field: "metadata.name" },
        changed: ["spec", "status.loadBalancer"],
      },
      {
        kind: kindOf(endpointSlice),
        names: { label: "kubernetes.io/service-name" },
        changed: ["endpoints", "ports"],
      },
      {
        kind: kindOf(builtin.node),
        names: { all: true },
        changed: ["spec.providerID", "spec.taints", "metadata.labels"],
      },
    ],
    resyncEvery: "1h",
    concurrency: 8,
    timeout: "60s",
    async reconcile(context) {
      const service = await readService(context);
      const targets = await readTargets(context, service);
      const result = await reconcileExternal(context, await balancers.open(context, { service, targets }));
      if ("dnsName" in result.status) await publishAddress(context, service, result.status.dnsName);
      else await withdrawAddress(context, service);
      return result;
    },
    async finalize(context) {
      if (context.spec.onDelete === "Delete") await withdrawAddress(context);
      await finalizeExternal(context, () => balancers.open(context, undefined));
    },
  });
