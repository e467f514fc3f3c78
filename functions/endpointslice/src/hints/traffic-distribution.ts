import type { AddressType } from "../service.ts";
import type { SlicePlan } from "../slices/slice-plan.ts";
import { withHints } from "./with-hints.ts";

const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"] as const;
export type TrafficDistribution = (typeof distributions)[number];

export const trafficDistributionIn = (text: string | undefined): TrafficDistribution | undefined =>
  distributions.find((one) => one === text);

/** The plan with the hints of a traffic distribution: each ready endpoint is for its own zone, or for its node, too. */
export const withDistributionHints = (
  plan: SlicePlan,
  addressType: AddressType,
  distribution: TrafficDistribution,
): SlicePlan =>
  withHints(plan, addressType, ({ zone, nodeName, conditions, hints }) => {
    // Hints of endpoints that are not ready are not read.
    if (conditions.ready !== true) return hints;
    const isForNode = distribution === "PreferSameNode" && nodeName !== undefined;
    const forNodes = isForNode ? [{ name: nodeName }] : undefined;
    const forZones = zone === undefined ? undefined : [{ name: zone }];
    return forZones === undefined && forNodes === undefined ? undefined : { forZones, forNodes };
  });
