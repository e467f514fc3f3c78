// Refused definitions, and changes of served ones.
import type { JsonObject } from "../../src/json.ts";
import { definitions, spec, version } from "../fixtures.ts";
import { caseOf, get, patch, post, put } from "../steps.ts";
import type { Case } from "../steps.ts";
import { keyedBy, set, struct, text, whole } from "../schemas.ts";
import { group, at, plain, things, thingsWith, made, inVersions } from "../things.ts";

const wrong: readonly (readonly [string, JsonObject])[] = [
  ["no name of its own", { ...things(), metadata: { name: "others.example.com" } }],
  ["no group", things({ more: { group: "" } })],
  ["a group without a dot", things({ more: { group: "example" } })],
  ["a group that is no name", things({ more: { group: "Not_A.Name" } })],
  ["no scope", things({ more: { scope: "" } })],
  ["another scope", things({ more: { scope: "Galaxy" } })],
  ["no names", things({ more: { names: {} } })],
  ["a plural that is no name", things({ names: { plural: "Things" } })],
  ["a singular that is no name", things({ names: { singular: "A Thing" } })],
  ["a kind that is no name", things({ names: { kind: "Thing_1" } })],
  ["a list kind that is the kind", things({ names: { listKind: "Thing" } })],
  ["a list kind that is no name", things({ names: { listKind: "1Things" } })],
  ["short names that are none", things({ names: { shortNames: ["OK", "t", ""] } })],
  ["categories that are none", things({ names: { categories: ["All", "a.b"] } })],
  ["no versions", things({ versions: [] })],
  ["no version that is stored", thingsWith(plain, { storage: false })],
  ["two versions that are stored", things({ versions: [version("v1", plain), version("v2", spec({}))] })],
  ["a version twice", things({ versions: [version("v1", plain), version("v1", plain, { storage: false })] })],
  ["a version that is no name", things({ versions: [version("V1", plain)] })],
  ["a version without a schema", things({ versions: [{ name: "v1", served: true, storage: true }] })],
  ["a schema that is empty", thingsWith({})],
  ["a schema without types", thingsWith(spec({ a: {} }))],
  [
    "two versions, one without a type",
    things({ versions: [version("v1", plain), version("v2", spec({ a: {} }), { storage: false })] }),
  ],
  ["a schema of lists without items", thingsWith(spec({ a: { type: "array" } }))],
  ["a default that does not fit", thingsWith(spec({ a: { ...whole, default: "x" } }))],
  ["a list by keys that are not required", thingsWith(spec({ a: keyedBy(struct({ name: text }), "name") }))],
  ["a list by keys that are not there", thingsWith(spec({ a: keyedBy(struct({ other: text }), "name") }))],
  ["a set of maps", thingsWith(spec({ a: set({ type: "object" }) }))],
  ["what it keeps is unknown", things({ more: { preserveUnknownFields: true } })],
  ["an unknown conversion", things({ more: { conversion: { strategy: "Magic" } } })],
  [
    "columns that are none",
    thingsWith(plain, {
      additionalPrinterColumns: [
        { name: "A", type: "strange", jsonPath: ".spec.name" },
        { name: "", type: "string", jsonPath: "spec" },
        { name: "C", type: "string", jsonPath: ".spec[", format: "strange" },
      ],
    }),
  ],
  [
    "a scale that is none",
    thingsWith(plain, {
      subresources: {
        scale: { specReplicasPath: ".status.size", statusReplicasPath: "", labelSelectorPath: "x" },
      },
    }),
  ],
  ["a warning of what is not deprecated", thingsWith(plain, { deprecationWarning: "old" })],
  ["an empty warning", thingsWith(plain, { deprecated: true, deprecationWarning: "" })],
];

export const refusals: readonly Case[] = [
  ...wrong.map(([name, body]) => caseOf(`refused: ${name}`, post(definitions, body), get(at))),
  caseOf(
    "refused: changes of one that is served",
    ...made(),
    patch(at, { spec: { group: "other.example.com" } }),
    patch(at, { spec: { scope: "Cluster" } }),
    patch(at, { spec: { names: { plural: "others" } } }),
    patch(at, { spec: { names: { kind: "Other" } } }),
    patch(at, { spec: { names: { singular: "A" } } }),
    patch(at, { spec: { preserveUnknownFields: true } }),
    patch(at, { spec: { scope: "Cluster", names: { kind: "Other", plural: "x" } } }),
    patch(at, inVersions(version("v2", plain))),
    patch(at, inVersions(version("v1", plain, { storage: false }))),
    patch(at, inVersions(version("v1", { type: "string" }))),
    put(at, things()),
    put(at, { ...things(), metadata: { name: `things.${group}`, resourceVersion: "1" } }),
    get(at),
  ),
];
