import { defineFunction } from "@drover/controller";
import { endpointSliceController } from "./endpoint-slice-controller.ts";

/**
 * The deployment in `deploy/function.yaml`. No other controller may reconcile the kind: start kube-controller-manager
 * with `--controllers=*,-endpointslice-controller`.
 */
export default defineFunction({
  controller: endpointSliceController(),
  deployment: {
    container: { image: "drover/endpointslice:0.1.0" },
    permissions: { cluster: [{ apiGroups: [""], resources: ["pods", "nodes"], verbs: ["list"] }] },
    scaling: { min: 1, max: 3 },
  },
});
