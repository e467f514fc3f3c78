import { type Endpoint, type EndpointPort, type EndpointSlice } from "../endpoint-slice.ts";
import type { AddressType } from "../service.ts";

/** A slice that is to be written. */
export interface SliceDraft {
  /** The slice that gets these fields; undefined for a new one. */
  readonly current?: EndpointSlice | undefined;
  readonly addressType: AddressType;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** The writes for the slices of a Service of one address type. */
export interface SlicePlan {
  readonly create: readonly SliceDraft[];
  readonly update: readonly SliceDraft[];
  readonly remove: readonly EndpointSlice[];
  readonly keep: readonly EndpointSlice[];
}

/** The draft of a slice that stays as it is. */
export const draftOf = (current: EndpointSlice, addressType: AddressType): SliceDraft => ({
  current,
  addressType,
  labels: current.metadata.labels ?? {},
  ports: current.ports,
  endpoints: current.endpoints,
});

/** Both plans as one. */
export const mergePlans = (a: SlicePlan, b: SlicePlan): SlicePlan => ({
  create: [...a.create, ...b.create],
  update: [...a.update, ...b.update],
  remove: [...a.remove, ...b.remove],
  keep: [...a.keep, ...b.keep],
});

export const emptyPlan: SlicePlan = { create: [], update: [], remove: [], keep: [] };
