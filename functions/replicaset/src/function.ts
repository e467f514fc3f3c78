import { defineFunction } from "@drover/controller";
import { replicaSetController } from "./replica-set-controller.ts";

/**
 * The deployment in `deploy/function.yaml`. No other controller may reconcile the kind: start kube-controller-manager
 * with `--controllers=*,-replicaset-controller`.
 */
export default defineFunction({
  controller: replicaSetController(),
  deployment: {
    container: { image: "drover/replicaset:0.1.0" },
    permissions: {
      cluster: [
        { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list"] },
        {
          apiGroups: ["apps"],
          resources: ["replicasets/status", "replicasets/finalizers"],
          verbs: ["update"],
        },
      ],
    },
    scaling: { min: 1, max: 3 },
  },
});
