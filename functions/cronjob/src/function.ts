import { defineFunction } from "@drover/controller";
import { cronJobController } from "./cron-job-controller.ts";

/**
 * The deployment in `deploy/function.yaml`. No other controller may reconcile the kind: start kube-controller-manager
 * with `--controllers=*,-cronjob-controller`.
 */
export default defineFunction({
  controller: cronJobController(),
  deployment: {
    container: { image: "drover/cronjob:0.1.0" },
    permissions: {
      cluster: [
        { apiGroups: ["batch"], resources: ["cronjobs/status", "cronjobs/finalizers"], verbs: ["update"] },
      ],
    },
    scaling: { min: 0, max: 3 },
  },
});
