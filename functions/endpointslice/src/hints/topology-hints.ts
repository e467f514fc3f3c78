import type { Endpoint } from "../endpoint-slice.ts";
import type { AddressType } from "../service.ts";
import type { SlicePlan } from "../slices/slice-plan.ts";
import { allocationsOf, isAllocation, transfersOf } from "./allocations.ts";
import { keepOnly, withHints, withoutHints } from "./with-hints.ts";
import type { ZoneShares } from "./zone-capacity.ts";

/** A plan with hints, or without them and why. */
export interface HintedPlan {
  readonly plan: SlicePlan;
  readonly problem?: string;
}

const isReady = ({ conditions }: Endpoint): boolean => conditions.ready === true;

/**
 * The plan with the hints of `service.kubernetes.io/topology-mode: Auto`: zones get ready endpoints in proportion to their
 * processors, their own ones first. If that is not possible without much more load for some, no endpoint has hints.
 * Slices whose hints are still right are kept.
 */
export function withTopologyHints(
  plan: SlicePlan,
  addressType: AddressType,
  shares: ZoneShares | undefined,
): HintedPlan {
  const endpoints = [...plan.create, ...plan.update, ...plan.keep].flatMap((slice) => slice.endpoints);
  const allocations = allocationsOf(shares, endpoints.filter(isReady).length);
  const without = (problem: string): HintedPlan => ({ plan: withoutHints(plan, addressType), problem });
  if (!isAllocation(allocations)) return without(allocations.problem);
  /** The number of endpoints that each zone has. */
  const counts = new Map<string, number>();
  const { create, update, keep } = keepOnly(plan, addressType, ({ endpoints: kept }) => {
    const own = hintedZones(kept);
    const sums = own && [...own].map(([zone, count]) => [zone, count + (counts.get(zone) ?? 0)] as const);
    if (sums?.some(([zone, sum]) => sum > (allocations.get(zone)?.maximum ?? -1)) !== false) return false;
    for (const [zone, sum] of sums) counts.set(zone, sum);
    return true;
  });
  const open = [...create, ...update].flatMap((slice) => slice.endpoints).filter(isReady);
  if (open.some(({ zone }) => zone === undefined))
    return without("One or more endpoints do not have a zone specified");
  const zones = new Map(open.map((endpoint) => [endpoint, endpoint.zone ?? ""]));
  for (const zone of zones.values()) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  const { giving, receiving } = transfersOf(allocations, counts);
  for (const [endpoint, zone] of zones) {
    const [target] = [...receiving.keys()].sort();
    if (target === undefined || !take(giving, zone)) continue;
    take(receiving, target);
    zones.set(endpoint, target);
  }
  const withZones = withHints({ ...plan, create, update, keep: [] }, addressType, (endpoint) => {
    const zone = zones.get(endpoint);
    return zone === undefined ? endpoint.hints : { forZones: [{ name: zone }], forNodes: undefined };
  });
  return { plan: { ...withZones, keep } };
}

/** The number of ready endpoints for each zone; undefined if one of them has no hints. */
function hintedZones(endpoints: readonly Endpoint[]): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  for (const { hints } of endpoints.filter(isReady)) {
    const zones = hints?.forZones ?? [];
    if (zones.length === 0) return undefined;
    for (const { name } of zones) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Takes one away; false if there is none left. */
function take(counts: Map<string, number>, zone: string): boolean {
  const count = counts.get(zone) ?? 0;
  if (count > 1) counts.set(zone, count - 1);
  else counts.delete(zone);
  return count > 0;
}
