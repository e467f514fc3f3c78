import { publishAs } from "@drover/workloads";
import { type EndpointSlice, isOwnedBy } from "../endpoint-slice.ts";
import type { EndpointSliceRunContext } from "../endpoint-slice-run.ts";
import type { AddressType, ServiceObject } from "../service.ts";
import type { SlicePlan } from "../slices/slice-plan.ts";
import { withTopologyHints } from "./topology-hints.ts";
import { trafficDistributionIn, withDistributionHints } from "./traffic-distribution.ts";
import { withoutHints } from "./with-hints.ts";
import { readZoneShares } from "./zone-capacity.ts";

/** Returns the plan with the hints that the Service asks for. */
type AddHints = (plan: SlicePlan, addressType: AddressType) => SlicePlan;

/** True if zones get endpoints in proportion to their processors: the annotation is deprecated, but works. */
export function isTopologyAware({ metadata: { annotations = {} } }: ServiceObject): boolean {
  const mode =
    annotations["service.kubernetes.io/topology-aware-hints"] ??
    annotations["service.kubernetes.io/topology-mode"];
  return mode === "Auto" || mode === "auto";
}

const publish = publishAs("UpdateEndpointSlices");

/** @param slices those of the Service: hints in them were added by an earlier run. */
export async function openHints(
  run: EndpointSliceRunContext,
  slices: readonly EndpointSlice[],
): Promise<AddHints> {
  const { client, context, service } = run;
  const distribution = trafficDistributionIn(service.spec.trafficDistribution);
  if (!isTopologyAware(service))
    return (plan, addressType) =>
      distribution === undefined
        ? withoutHints(plan, addressType)
        : withDistributionHints(plan, addressType, distribution);
  let hadHints = slices.some(
    (slice) =>
      isOwnedBy(slice, service) && slice.endpoints.some(({ hints }) => hints?.forZones !== undefined),
  );
  const shares = await readZoneShares(client, context.signal);
  return (plan, addressType) => {
    const { plan: hinted, problem } = withTopologyHints(plan, addressType, shares);
    if (problem !== undefined)
      publish(run, "TopologyAwareHintsDisabled", `${problem}, addressType: ${addressType}`, "Warning");
    else if (!hadHints)
      publish(
        run,
        "TopologyAwareHintsEnabled",
        `Topology Aware Hints has been enabled, addressType: ${addressType}`,
      );
    hadHints ||= problem === undefined;
    return hinted;
  };
}
