import { type EndpointSlice, isOwnedBy, isPlaceholder, labelsOf } from "../endpoint-slice.ts";
import { portsKey } from "../pods/endpoint-ports.ts";
import { type EndpointGroup, packEndpoints, type PackOptions } from "./pack-endpoints.ts";
import { emptyPlan, mergePlans, type SlicePlan } from "./slice-plan.ts";

/**
 * The writes for the slices of a Service of one address type: those of each set of ports are packed on their own, and
 * those that are of no set any more, or not of this Service, are deleted. There is always at least one slice, so that
 * readers can distinguish a Service without endpoints from one that was not reconciled.
 */
export function planSlices(
  groups: readonly EndpointGroup[],
  slices: readonly EndpointSlice[],
  options: PackOptions,
): SlicePlan {
  const { service, addressType } = options;
  const own = slices.filter((slice) => isOwnedBy(slice, service));
  const byPorts = Map.groupBy(own, ({ ports }) => portsKey(ports));
  // While the Service is deleted, the garbage collector may release slices that are to stay.
  const isDeleting = service.metadata.deletionTimestamp !== undefined;
  const foreign = isDeleting ? [] : slices.filter((slice) => !isOwnedBy(slice, service));
  const isWanted = new Set(groups.map(({ ports }) => portsKey(ports)));
  const packed = groups.map((group) =>
    packEndpoints(group, byPorts.get(portsKey(group.ports)) ?? [], options),
  );
  const plan = [
    { ...emptyPlan, remove: foreign },
    ...packed,
    { ...emptyPlan, remove: own.filter(({ ports }) => !isWanted.has(portsKey(ports))) },
  ].reduce(mergePlans);
  if (plan.create.length + plan.update.length + plan.keep.length > 0) return plan;
  const [only, ...others] = plan.remove;
  if (only !== undefined && others.length === 0 && isPlaceholder(only, service))
    return { ...plan, remove: [], keep: [only] };
  return { ...plan, create: [{ addressType, labels: labelsOf(service), ports: [], endpoints: [] }] };
}
