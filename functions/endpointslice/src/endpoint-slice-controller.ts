import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { type Clock, runContextOf } from "@drover/workloads";
import { controllerName, labels } from "./endpoint-slice.ts";
import { reconcileService } from "./reconcile-service.ts";
import { Service, serviceSchema } from "./service.ts";

/** The default of kube-controller-manager's `--max-endpoints-per-slice`. */
export const defaultMaxEndpoints = 100;

const slices = kindOf(builtin.endpointSlice);
/** The fields of a pod that can change its endpoint. */
const changed = [
  "metadata.labels",
  "metadata.deletionTimestamp",
  "spec.nodeName",
  "spec.hostname",
  "spec.subdomain",
  "status.phase",
  "status.podIPs",
  "status.conditions[].status",
];

/** Keeps the EndpointSlices of Services: the addresses of the pods that each selects. */
export const endpointSliceController = ({
  maxEndpointsPerSlice = defaultMaxEndpoints,
  now,
}: { readonly maxEndpointsPerSlice?: number; readonly now?: Clock } = {}) => {
  const run = (context: ReconcileContext<typeof Service>) =>
    reconcileService({
      ...runContextOf(context, now),
      service: serviceSchema.parse(context.object),
      maxEndpointsPerSlice,
    });
  return defineController({
    name: "endpointslice",
    for: Service,
    owns: [{ kind: slices, copies: true }],
    watches: [
      // Also a slice without its owner reference, or of an earlier Service of this name.
      {
        kind: slices,
        labelSelector: { matchLabels: { [labels.managedBy]: controllerName } },
        names: { label: labels.serviceName },
      },
      { kind: kindOf(builtin.pod), changed, names: { selectedBy: "spec.selector" } },
    ],
    copies: true,
    retry: { first: "1s", longest: "1000s" },
    reconcile: run,
    whileDeleting: run,
  });
};
