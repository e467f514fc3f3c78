import { defineFunction } from "@drover/controller";
import { deploymentController } from "./deployment-controller.ts";

/**
 * The deployment in `deploy/function.yaml`. No other controller may reconcile the kind: start kube-controller-manager
 * with `--controllers=*,-deployment-controller`.
 */
export default defineFunction({
  controller: deploymentController(),
  deployment: {
    container: { image: "drover/deployment:0.1.0" },
    permissions: {
      cluster: [
        { apiGroups: ["apps"], resources: ["deployments"], verbs: ["update"] },
        {
          apiGroups: ["apps"],
          resources: ["deployments/status", "deployments/finalizers"],
          verbs: ["update"],
        },
        { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
      ],
    },
    scaling: { min: 1, max: 3 },
  },
});
