// Invariants of any controller of EndpointSlices at every moment, checked on the watch events of one action.
import { field, isObject, listAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Span } from "../family.ts";
import type { Seen } from "../observe.ts";
import { isLeaving, isReady, nameOf, versionOf } from "../sequences/kinds.ts";
import { maxEndpoints, publishesAll, serviceOf } from "./service.ts";

const isTrue = (endpoint: Json, condition: string): boolean =>
  field(endpoint, "conditions", condition) === true;

/** True if the pod of an endpoint was ready at some time before the slice was written. */
const wasReady = (endpoint: Json, slice: Json, seen: readonly Seen[]): boolean =>
  seen.some(
    ({ kind, object }) =>
      kind === "Pod" &&
      textAt(object, "metadata", "uid") === textAt(endpoint, "targetRef", "uid") &&
      versionOf(object) < versionOf(slice) &&
      isReady(object) &&
      !isLeaving(object),
  );

function problemsOf(slice: JsonObject, seen: readonly Seen[]): readonly string[] {
  const endpoints = listAt(slice, "endpoints").filter(isObject);
  const found: string[] = [];
  if (endpoints.length > maxEndpoints) found.push(`a slice has ${endpoints.length} endpoints`);
  const service = serviceOf(slice);
  const publishes = seen.some(
    ({ kind, object }) => kind === "Service" && nameOf(object) === service && publishesAll(object),
  );
  if (publishes) return found;
  for (const endpoint of endpoints.filter((one) => isTrue(one, "ready"))) {
    const pod = textAt(endpoint, "targetRef", "name") ?? "";
    if (isTrue(endpoint, "terminating")) found.push(`${pod} is terminating, and ready`);
    if (!wasReady(endpoint, slice, seen)) found.push(`${pod} is published as ready, and was never ready`);
  }
  return found;
}

/** The rules that were broken, in words; each once. Slices as users have written them are left out. */
export function violations({ action, before, during }: Span): readonly string[] {
  if (action.do === "slice") return [];
  const seen = [...before, ...during];
  const slices = during.filter(
    ({ kind, type, object }) =>
      kind === "EndpointSlice" && type !== "DELETED" && serviceOf(object) !== undefined,
  );
  return [...new Set(slices.flatMap(({ object }) => problemsOf(object, seen)))];
}
