// A definition for one case only, which the case may change and delete, and its objects.
// The controllers of a real server work after the answer. Each case waits for an effect, never for a time.
import { objectAt } from "../src/json.ts";
import type { Json, JsonObject } from "../src/json.ts";
import { definitionOf, definitions, spec, version } from "./fixtures.ts";
import { awaited, object, post, saying } from "./steps.ts";
import { text, whole } from "./schemas.ts";
import type { Step } from "./steps.ts";

/** Each case has a group of its own, because names are accepted by group. */
export const group = "<id>.example.com";
export const apiVersion = `${group}/v1`;
/** The definition of things. */
export const at = `${definitions}/things.${group}`;
/** Things in the namespace of the case. */
export const inHome = (name = "v1"): string => `/apis/${group}/${name}/namespaces/<ns>/things`;
/** The usual schema. */
export const plain = spec({ size: whole, name: text });

export interface Thing {
  readonly versions?: readonly Json[];
  readonly names?: JsonObject;
  readonly more?: JsonObject;
}
/** The definition of things, with other parts in its spec. */
export function things({ versions = [version("v1", plain)], names = {}, more = {} }: Thing = {}): JsonObject {
  const made = definitionOf({ group, plural: "things", kind: "Thing", names, versions });
  return { ...made, spec: { ...objectAt(made, "spec"), ...more } };
}
export const thing = (
  name: string,
  given: Json = { size: 1 },
  metadata: JsonObject = {},
  of = "v1",
): JsonObject => object(`${group}/${of}`, "Thing", name, { spec: given }, metadata);

/** Waits until a definition is established. */
export const settled = (path = at): Step => saying(path, '"InitialNamesAccepted"');
/** Waits until a version is served. */
export const served = (name = "v1"): Step => awaited(`/apis/${group}/${name}/things`);
/** A definition, until it is served. */
export const made = (thing: Thing = {}): Step[] => [post(definitions, things(thing)), settled(), served()];
/** The same, of one version with this schema. */
export const thingsWith = (schema: JsonObject, more: JsonObject = {}): JsonObject =>
  things({ versions: [version("v1", schema, more)] });
export const madeWith = (schema: JsonObject, more: JsonObject = {}): Step[] =>
  made({ versions: [version("v1", schema, more)] });
/** The part of a version that makes the status a subresource. */
export const withStatus = { subresources: { status: {} } };
/** Repeats a dry run until it is answered with this code: then the change of the definition is served. */
export const probed = (body: JsonObject, awaiting: number): Step => ({
  ...post(`${inHome()}?dryRun=All`, body),
  awaiting,
});
/** A patch of the versions. */
export const inVersions = (...versions: readonly Json[]): Json => ({ spec: { versions } });
