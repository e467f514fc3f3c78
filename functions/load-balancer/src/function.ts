import { defineFunction } from "drover";
import { elbConfigSchema } from "./config.ts";
import { elbPorts } from "./elb/elb-port.ts";
import { loadBalancerController } from "./load-balancer-controller.ts";

/**
 * The deployment in `deploy/function.yaml`. Give its ServiceAccount a role of AWS, with EKS Pod Identity or IRSA:
 * docs/external-resources.md lists the actions. Functions cannot reach the credentials of the node: docs/network.md.
 */
export default defineFunction({
  controller: loadBalancerController(elbPorts(elbConfigSchema.parse({}))),
  // Objects in any namespace may name a Secret with their keys.
  readsSecrets: true,
  deployment: {
    container: { image: "drover/load-balancer:0.1.0" },
    permissions: {
      cluster: [
        { apiGroups: [""], resources: ["services"], verbs: ["get"] },
        { apiGroups: [""], resources: ["services/status"], verbs: ["patch"] },
        { apiGroups: [""], resources: ["nodes"], verbs: ["list"] },
        { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list"] },
      ],
    },
    scaling: { max: 3 },
  },
});
