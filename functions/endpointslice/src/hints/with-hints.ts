import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "../endpoint-slice.ts";
import type { AddressType } from "../service.ts";
import { draftOf, type SlicePlan } from "../slices/slice-plan.ts";

export type Hints = Endpoint["hints"];
interface WithEndpoints {
  readonly endpoints: readonly Endpoint[];
}

/** The plan with these hints. A slice that would be kept is updated if the hints of one of its endpoints change. */
export function withHints(
  plan: SlicePlan,
  addressType: AddressType,
  hintsOf: (endpoint: Endpoint) => Hints,
): SlicePlan {
  const hinted = <S extends WithEndpoints>(slice: S): S => ({
    ...slice,
    endpoints: slice.endpoints.map((endpoint) => ({ ...endpoint, hints: hintsOf(endpoint) })),
  });
  const hasOthers = ({ endpoints }: WithEndpoints): boolean =>
    endpoints.some((endpoint) => !isDeepStrictEqual(given(endpoint.hints), given(hintsOf(endpoint))));
  const { keep, update } = keepOnly(plan, addressType, (slice) => !hasOthers(slice));
  return { create: plan.create.map(hinted), update: update.map(hinted), remove: plan.remove, keep };
}

/** The plan without hints. */
export const withoutHints = (plan: SlicePlan, addressType: AddressType): SlicePlan =>
  withHints(plan, addressType, () => undefined);

/** The plan in which of the slices that it keeps, only these are kept, and the others are updated. */
export function keepOnly(
  plan: SlicePlan,
  addressType: AddressType,
  isKept: (slice: WithEndpoints) => boolean,
): SlicePlan {
  const groups = Map.groupBy(plan.keep, isKept);
  const others = (groups.get(false) ?? []).map((slice) => draftOf(slice, addressType));
  return { ...plan, update: [...plan.update, ...others], keep: groups.get(true) ?? [] };
}

/** Hints without fields that have no value. */
const given = (hints: Hints): unknown =>
  hints && Object.fromEntries(Object.entries(hints).filter(([, value]) => value !== undefined));
