import { type Endpoint, endpointKey, type EndpointPort, type EndpointSlice } from "../endpoint-slice.ts";
import { hasLabelsOf, isSameEndpoint, labelsOf } from "../endpoint-slice.ts";
import type { AddressType, ServiceObject } from "../service.ts";
import { draftOf, type SliceDraft, type SlicePlan } from "./slice-plan.ts";

/** Endpoints with the same ports, by their keys. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: ReadonlyMap<string, Endpoint>;
}

export interface PackOptions {
  readonly service: ServiceObject;
  readonly addressType: AddressType;
  readonly maxEndpointsPerSlice: number;
}

/**
 * Distributes a group's endpoints over slices, so that few slices are written. An endpoint stays in its slice, and a slice
 * that has lost all its endpoints is deleted. New endpoints go to slices that change anyway, the fullest first. The rest,
 * if it fits into one unchanged slice, goes to the one that it fills best, else to new slices.
 *
 * @param slices those of the Service with these ports.
 */
export function packEndpoints(
  { ports, endpoints }: EndpointGroup,
  slices: readonly EndpointSlice[],
  { service, addressType, maxEndpointsPerSlice: max }: PackOptions,
): SlicePlan {
  const left = new Map(endpoints);
  const { update, remove, keep } = withoutGone(slices, left, { service, addressType });
  /** The draft with as many of the endpoints that are left as it has room for. */
  const filled = (draft: SliceDraft): SliceDraft => {
    const added = [...left].slice(0, Math.max(0, max - draft.endpoints.length));
    for (const [key] of added) left.delete(key);
    return { ...draft, endpoints: [...draft.endpoints, ...added.map(([, endpoint]) => endpoint)] };
  };
  const updated = update.toSorted((a, b) => b.endpoints.length - a.endpoints.length).map(filled);
  const create: SliceDraft[] = [];
  while (left.size > 0) {
    const fitting = left.size < max ? bestFitting(keep, max - left.size) : undefined;
    if (fitting === undefined)
      create.push(filled({ addressType, labels: labelsOf(service), ports, endpoints: [] }));
    else updated.push(filled(draftOf(fitting, addressType)));
    if (fitting !== undefined) keep.splice(keep.indexOf(fitting), 1);
  }
  return { create, update: updated, remove, keep };
}

/** The slices with the endpoints that stay, in their newest state; these are taken out of `left`. */
function withoutGone(
  slices: readonly EndpointSlice[],
  left: Map<string, Endpoint>,
  { service, addressType }: Pick<PackOptions, "service" | "addressType">,
) {
  const update: SliceDraft[] = [];
  const remove: EndpointSlice[] = [];
  const keep: EndpointSlice[] = [];
  for (const slice of slices) {
    const endpoints = slice.endpoints.flatMap((endpoint) => {
      const key = endpointKey(endpoint);
      const wanted = left.get(key);
      left.delete(key);
      return wanted ?? [];
    });
    const isSame =
      endpoints.length === slice.endpoints.length &&
      endpoints.every((endpoint, i) => isSameEndpoint(endpoint, slice.endpoints[i] ?? endpoint));
    if (isSame && hasLabelsOf(service, slice)) keep.push(slice);
    else if (!isSame && endpoints.length === 0) remove.push(slice);
    else
      update.push({
        ...draftOf(slice, addressType),
        labels: labelsOf(service),
        ...(!isSame && { endpoints }),
      });
  }
  return { update, remove, keep };
}

/** The fullest slice that has at most this number of endpoints. */
function bestFitting(slices: readonly EndpointSlice[], most: number): EndpointSlice | undefined {
  const fitting = slices.filter(({ endpoints }) => endpoints.length <= most);
  return fitting.reduce<EndpointSlice | undefined>(
    (best, slice) => (best === undefined || slice.endpoints.length > best.endpoints.length ? slice : best),
    undefined,
  );
}
