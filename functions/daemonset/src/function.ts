import { defineFunction } from "@drover/controller";
import { daemonSetController } from "./daemon-set-controller.ts";

/**
 * The deployment in `deploy/function.yaml`. No other controller may reconcile the kind: start kube-controller-manager
 * with `--controllers=*,-daemonset-controller`.
 */
export default defineFunction({
  controller: daemonSetController(),
  deployment: {
    container: { image: "drover/daemonset:0.1.0" },
    permissions: {
      cluster: [
        {
          apiGroups: ["apps"],
          resources: ["daemonsets/status", "daemonsets/finalizers"],
          verbs: ["update"],
        },
        { apiGroups: [""], resources: ["nodes"], verbs: ["list"] },
      ],
    },
    scaling: { min: 1, max: 3 },
  },
});
