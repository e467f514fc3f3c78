import { defineFunction } from "@drover/controller";
import { jobController } from "./job-controller.ts";

/**
 * The deployment in `deploy/function.yaml`. No other controller may reconcile the kind: start kube-controller-manager
 * with `--controllers=*,-job-controller,-ttl-after-finished-controller`.
 */
export default defineFunction({
  controller: jobController(),
  deployment: {
    container: { image: "drover/job:0.1.0" },
    permissions: {
      cluster: [
        { apiGroups: ["batch"], resources: ["jobs"], verbs: ["delete"] },
        { apiGroups: ["batch"], resources: ["jobs/status", "jobs/finalizers"], verbs: ["update"] },
      ],
    },
    scaling: { min: 1, max: 3 },
  },
});
