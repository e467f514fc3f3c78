// The changes to slices that must still come, computed for any controller.
import {
  field,
  isObject,
  isTrueAt,
  listAt,
  objectAt,
  textAt,
  textsAt,
} from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { World } from "../observe.ts";
import { hasEnded, isHeld, isLeaving, nameOf, uidOf } from "../sequences/kinds.ts";
import { firstReason } from "../sequences/settle.ts";
import {
  addressesOf,
  conditionsOf,
  expectedPorts,
  familiesOf,
  isReconciled,
  isSelectedBy,
  portsOf,
  portsText,
  reservedLabels,
  serviceOf,
} from "./service.ts";

const isOfFamily = (ip: string, family: string): boolean => ip.includes(":") === (family === "IPv6");

/** The endpoints that the pods of a Service have, as text. */
function expected(service: Json, pods: readonly Json[]): readonly string[] {
  const theirs = pods.filter((pod) => isSelectedBy(service, pod) && !hasEnded(pod));
  return familiesOf(service).flatMap((family) =>
    theirs.flatMap((pod) => {
      const ips = addressesOf(pod).filter((ip) => isOfFamily(ip, family));
      const conditions = conditionsOf(service, pod);
      return ips.length === 0
        ? []
        : [JSON.stringify([family, ips, uidOf(pod), conditions, expectedPorts(service, pod)])];
    }),
  );
}

/** The ports of the slices that a Service may have. */
const expectedGroups = (service: Json, pods: readonly Json[]): readonly string[] =>
  pods
    .filter((pod) => isSelectedBy(service, pod) && !hasEnded(pod) && addressesOf(pod).length > 0)
    .map((pod) => expectedPorts(service, pod));

/** The endpoints that slices have, as text. */
const published = (slices: readonly Json[]): readonly string[] =>
  slices.flatMap((slice) =>
    listAt(slice, "endpoints")
      .filter(isObject)
      .map((endpoint) =>
        JSON.stringify([
          textAt(slice, "addressType"),
          textsAt(endpoint, "addresses"),
          textAt(endpoint, "targetRef", "uid") ?? "",
          ["ready", "serving", "terminating"].map((one) => field(endpoint, "conditions", one) ?? null),
          portsOf(slice),
        ]),
      ),
  );

/** The labels that a slice has from its Service. */
const labelsText = (object: Json): string =>
  JSON.stringify(
    Object.entries(objectAt(object, "metadata", "labels"))
      .filter(([key]) => !reservedLabels.includes(key))
      .sort(),
  );

/** True if the ready endpoints of a slice are for their zones and nodes as the Service asks for. */
function hasHintsFor(service: Json, slice: Json): boolean {
  const distribution = textAt(service, "spec", "trafficDistribution");
  const hinted = (endpoint: Json, of: string): string | undefined =>
    textAt(listAt(endpoint, "hints", of)[0] ?? null, "name");
  const ready = listAt(slice, "endpoints").filter((one) => isTrueAt(one, "conditions", "ready"));
  return ready.every((endpoint) => {
    const zone = distribution === undefined ? undefined : textAt(endpoint, "zone");
    const node = distribution === "PreferSameNode" ? textAt(endpoint, "nodeName") : undefined;
    return hinted(endpoint, "forZones") === zone && hinted(endpoint, "forNodes") === node;
  });
}

function unsettledService(service: JsonObject, world: World): string | undefined {
  if (isLeaving(service)) return isHeld(service) ? undefined : "is on its way out";
  if (!isReconciled(service)) return undefined;
  const slices = world
    .objects("EndpointSlice")
    .filter((slice) => serviceOf(slice) === nameOf(service) && !isLeaving(slice));
  const wanted = [...expected(service, world.objects("Pod"))].sort();
  const found = [...published(slices)].sort();
  const missing = familiesOf(service).find(
    (family) => !slices.some((slice) => textAt(slice, "addressType") === family),
  );
  if (missing !== undefined) return `has no slice of ${missing}`;
  if (JSON.stringify(wanted) !== JSON.stringify(found)) return "has other endpoints in its slices";
  const unhinted = slices.find((slice) => !hasHintsFor(service, slice));
  if (unhinted !== undefined) return `has other hints than ${nameOf(unhinted)}`;
  const ports = new Set([portsText([]), ...expectedGroups(service, world.objects("Pod"))]);
  const stray = slices.find((slice) => !ports.has(portsOf(slice)));
  if (stray !== undefined) return `has a slice with other ports: ${nameOf(stray)}`;
  const labels = labelsText(service);
  const unlabelled = slices.find((slice) => labelsText(slice) !== labels);
  return unlabelled === undefined ? undefined : `has other labels than ${nameOf(unlabelled)}`;
}

/** A change that is still to come, in words; undefined if there is none. */
export function unsettled(world: World): string | undefined {
  const services = world.objects("Service");
  const uids = new Set(services.map(uidOf));
  const isOrphan = (slice: Json): boolean => {
    const [owner] = listAt(slice, "metadata", "ownerReferences");
    return textAt(owner, "kind") === "Service" && !uids.has(textAt(owner, "uid") ?? "") && !isHeld(slice);
  };
  const left = world.objects("EndpointSlice").find(isOrphan);
  if (left !== undefined) return `${nameOf(left)} has lost its owner, and is not collected`;
  return (
    firstReason("Pod", world.objects("Pod"), (pod) =>
      isLeaving(pod) && !isHeld(pod) ? "is on its way out" : undefined,
    ) ??
    firstReason("Service", services, (service) => unsettledService(objectAt({ service }, "service"), world))
  );
}
