import type { Announcement } from "@drover/controller";
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

/** @param slices those of the Service: hints in them were added by an earlier run. */
export async function openHints(
  { client, context, service }: EndpointSliceRunContext,
  slices: readonly EndpointSlice[],
): Promise<AddHints> {
  const distribution = trafficDistributionIn(service.spec.trafficDistribution);
  if (!isTopologyAware(service))
    return (plan, addressType) =>
      distribution === undefined
        ? withoutHints(plan, addressType)
        : withDistributionHints(plan, addressType, distribution);
  const publish = (reason: string, note: string, type: Announcement["type"] = "Warning"): void =>
    context.announce({ type, reason, note, action: "UpdateEndpointSlices" });
  let hadHints = slices.some(
    (slice) =>
      isOwnedBy(slice, service) && slice.endpoints.some(({ hints }) => hints?.forZones !== undefined),
  );
  const shares = await readZoneShares(client, context.signal);
  return (plan, addressType) => {
    const { plan: hinted, problem } = withTopologyHints(plan, addressType, shares);
    if (problem !== undefined)
      publish("TopologyAwareHintsDisabled", `${problem}, addressType: ${addressType}`);
    else if (!hadHints)
      publish(
        "TopologyAwareHintsEnabled",
        `Topology Aware Hints has been enabled, addressType: ${addressType}`,
        "Normal",
      );
    hadHints ||= problem === undefined;
    return hinted;
  };
}
