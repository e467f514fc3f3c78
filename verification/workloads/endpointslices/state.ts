// The state of a namespace with Services, so that it can be compared with another run's.
import { isObject, listAt, objectAt, omit, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import { tellEvents } from "../canonical/canonical-events.ts";
import {
  byText,
  type Naming,
  namedObjects,
  shownFields,
  type Walk,
  walkOf,
  whole,
} from "../canonical/canonical.ts";
import { follow, type Seen, type World } from "../observe.ts";
import { maxEndpoints, portsOf, serviceOf } from "./service.ts";

/** The server chooses addresses and ports. */
function service(object: JsonObject, how: Walk): JsonObject {
  const { spec, ...rest } = whole(object, how);
  const chosen = ["clusterIP", "clusterIPs", "healthCheckNodePort"];
  const ports = listAt(spec ?? null, "ports")
    .filter(isObject)
    .map((port) => omit(port, "nodePort"));
  const isNone = textAt(spec ?? null, "clusterIP") === "None";
  return { ...rest, spec: { ...omit(objectAt(spec ?? null), ...chosen), ports, isNone } };
}

const groupOf = (slice: Json): string =>
  [serviceOf(slice) ?? "(others)", textAt(slice, "addressType") ?? "", portsOf(slice)].join(" ");

/**
 * The groups that had several slices at some time, or endpoints enough to fill one: over how many of them endpoints are spread
 * is chance from then on, because it depends on how many come at once.
 */
function spread(world: World): ReadonlySet<string> {
  const found = new Set<string>();
  const lives = new Map<string, Seen>();
  for (const one of world.seen) {
    if (one.kind !== "EndpointSlice") continue;
    follow(lives, one);
    const groups = Map.groupBy(
      [...lives.values()].map(({ object }) => object),
      groupOf,
    );
    for (const [group, slices] of groups)
      if (slices.length > 1 || slices.some((slice) => listAt(slice, "endpoints").length >= maxEndpoints))
        found.add(group);
  }
  return found;
}

/** A slice without its name, and the number of writes that it took. */
function shownSlice(slice: JsonObject, how: Walk): JsonObject {
  const { metadata, ports, addressType, endpoints } = shownFields(slice, how);
  return {
    metadata: omit(objectAt(metadata ?? null), "name", "generation", "creationTimestamp"),
    ports: ports ?? null,
    addressType: addressType ?? null,
    endpoints: [...listAt({ endpoints: endpoints ?? null }, "endpoints")].sort(byText),
  };
}

/** Slices of one group as one: all their endpoints, and what they have in common. */
function merged(slices: readonly JsonObject[]): JsonObject {
  const [first = {}] = slices;
  const metadata = slices.map((slice) => omit(objectAt(slice, "metadata"), "annotations"));
  return {
    metadata: [...new Set(metadata.map((one) => JSON.stringify(one)))],
    ports: first["ports"] ?? null,
    endpoints: slices.flatMap((slice) => listAt(slice, "endpoints")).sort(byText),
  };
}

/** Slices of Endpoints are written by two other controllers, one after the other. */
const isCompared = (slice: Json): boolean =>
  !listAt(slice, "metadata", "ownerReferences").some((owner) => textAt(owner, "kind") === "Endpoints");

function slicesOf(world: World, how: Walk): JsonObject {
  const chance = spread(world);
  const groups = Map.groupBy(world.objects("EndpointSlice").filter(isCompared), groupOf);
  return Object.fromEntries(
    [...groups].map(([group, slices]) => {
      const shown = slices.map((slice) => shownSlice(slice, how)).sort(byText);
      return [how.mask(group), chance.has(group) ? merged(shown) : shown];
    }),
  );
}

const writtenTimes = "2026-01-01";

/** The state of a namespace, in a form in which two runs can be compared. */
export function canonicalState(world: World, naming: Naming): JsonObject {
  const walk = walkOf(world, naming);
  // The sequence names the pods' times.
  const how = { ...walk, onTime: (at: string) => (at.startsWith(writtenTimes) ? at : walk.onTime(at)) };
  return {
    services: namedObjects(world, how, "Service", (object) => service(object, how)),
    slices: slicesOf(world, how),
    pods: namedObjects(world, how, "Pod", (object) => whole(object, how)),
    events: tellEvents(world, how.mask, naming.overtaken),
  };
}
