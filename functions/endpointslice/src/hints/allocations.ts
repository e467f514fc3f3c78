import type { ZoneShares } from "./zone-capacity.ts";

/** The number of endpoints that a zone is to have. */
export interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}
export type Allocations = ReadonlyMap<string, Allocation>;

/** The most by which endpoints may have more load than with an even distribution. */
const overloadThreshold = 0.2;

/** The allocations of this number of endpoints, or why there are none. The problems are those of kube-controller-manager. */
export function allocationsOf(
  shares: ZoneShares | undefined,
  count: number,
): Allocations | { readonly problem: string } {
  if (shares === undefined)
    return {
      problem: "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
    };
  const figures = `(${count} endpoints, ${shares.size} zones)`;
  if (shares.size > count) return { problem: `Insufficient number of endpoints ${figures}` };
  const wanted = [...shares].map(([zone, share]) => {
    const minimum = Math.ceil(share * count * (1 / (1 + overloadThreshold)));
    return { zone, minimum, desired: Math.max(share * count, minimum) };
  });
  const spare = count - wanted.reduce((sum, { minimum }) => sum + minimum, 0);
  if (spare < 0)
    return {
      problem: `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${figures}`,
    };
  return new Map(
    wanted.map(({ zone, minimum, desired }) => [zone, { minimum, desired, maximum: minimum + spare }]),
  );
}

export const isAllocation = (found: ReturnType<typeof allocationsOf>): found is Allocations =>
  !("problem" in found);

/** How many endpoints zones give to others, and receive from others, so that each has about as many as it is to have. */
export function transfersOf(
  allocations: Allocations,
  counts: ReadonlyMap<string, number>,
): { readonly giving: Map<string, number>; readonly receiving: Map<string, number> } {
  const surplus = new Map(
    [...allocations].map(([zone, { desired }]) => [zone, (counts.get(zone) ?? 0) - desired]),
  );
  const missing = new Map([...surplus].map(([zone, more]) => [zone, -more]));
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const [from, given] = largest(surplus);
    const [to, wanted] = largest(missing);
    if ((given < 1 && wanted < 1) || given < 0.5 || wanted < 0.5) return { giving, receiving };
    surplus.set(from, given - 1);
    missing.set(to, wanted - 1);
    giving.set(from, (giving.get(from) ?? 0) + 1);
    receiving.set(to, (receiving.get(to) ?? 0) + 1);
  }
}

const largest = (zones: ReadonlyMap<string, number>): readonly [zone: string, number: number] =>
  [...zones].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
