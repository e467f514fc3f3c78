import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "../endpoint-slice.ts";
import type { AddressType } from "../service.ts";
import { draftOf, type SlicePlan } from "../slices/slice-plan.ts";

const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"] as const;
export type TrafficDistribution = (typeof distributions)[number];

export const trafficDistributionIn = (text: string | undefined): TrafficDistribution | undefined =>
  distributions.find((one) => one === text);

/** The plan with the hints of a traffic distribution: each ready endpoint is for its own zone, or for its node, too. */
export const withDistributionHints = (
  plan: SlicePlan,
  distribution: TrafficDistribution,
  addressType: AddressType,
): SlicePlan =>
  withHints(plan, addressType, (endpoint) => {
    const { zone, nodeName, conditions, hints } = endpoint;
    // The hints of others are not read.
    if (conditions.ready !== true) return hints;
    const forNodes =
      distribution === "PreferSameNode" && nodeName !== undefined ? [{ name: nodeName }] : undefined;
    const forZones = zone === undefined ? undefined : [{ name: zone }];
    return forZones === undefined && forNodes === undefined ? undefined : { forZones, forNodes };
  });

/** The plan without hints. */
export const withoutHints = (plan: SlicePlan, addressType: AddressType): SlicePlan =>
  withHints(plan, addressType, () => undefined);

/** The plan with these hints. A slice that would be kept is updated if the hints of one of its endpoints change. */
export function withHints(
  plan: SlicePlan,
  addressType: AddressType,
  hintsOf: (endpoint: Endpoint) => Endpoint["hints"],
): SlicePlan {
  const hinted = <S extends { readonly endpoints: readonly Endpoint[] }>(slice: S): S => ({
    ...slice,
    endpoints: slice.endpoints.map((endpoint) => ({ ...endpoint, hints: hintsOf(endpoint) })),
  });
  const hasOthers = ({ endpoints }: { readonly endpoints: readonly Endpoint[] }): boolean =>
    endpoints.some((endpoint) => !isDeepStrictEqual(given(endpoint.hints), given(hintsOf(endpoint))));
  const changed = plan.keep.filter(hasOthers);
  return {
    create: plan.create.map(hinted),
    update: [...plan.update, ...changed.map((slice) => draftOf(slice, addressType))].map(hinted),
    remove: plan.remove,
    keep: plan.keep.filter((slice) => !changed.includes(slice)),
  };
}

/** Hints without fields that have no value. */
const given = (hints: Endpoint["hints"]): unknown =>
  hints && Object.fromEntries(Object.entries(hints).filter(([, value]) => value !== undefined));
