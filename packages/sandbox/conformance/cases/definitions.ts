// Definitions over their lives: refused, changed while there are objects, rivals for a name, deleted and made again.
// A real server's controllers work after the answer: each case waits for what it can see, never for a time.
import { objectAt } from "../../src/json.ts";
import type { Json, JsonObject } from "../../src/json.ts";
import { definitionOf, definitions, spec, version } from "../fixtures.ts";
import { awaited, del, get, named, object, patch, post, put, saying, watch } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const group = "<id>.example.com";
const apiVersion = `${group}/v1`;
const at = `${definitions}/things.${group}`;
const inHome = (name = "v1"): string => `/apis/${group}/${name}/namespaces/<ns>/things`;
const text = { type: "string" };
const whole = { type: "integer" };
const plain = spec({ size: whole, name: text });

interface Thing {
  readonly versions?: readonly Json[];
  readonly names?: JsonObject;
  readonly more?: JsonObject;
}
/** The definition of things, with parts of its spec exchanged. */
function things({ versions = [version("v1", plain)], names = {}, more = {} }: Thing = {}): JsonObject {
  const made = definitionOf({ group, plural: "things", kind: "Thing", names, versions });
  return { ...made, spec: { ...objectAt(made, "spec"), ...more } };
}
const thing = (name: string, given: Json = { size: 1 }, metadata: JsonObject = {}, of = "v1"): JsonObject =>
  object(`${group}/${of}`, "Thing", name, { spec: given }, metadata);

const settled = (path = at): Step => saying(path, '"InitialNamesAccepted"');
const served = (name = "v1"): Step => awaited(`/apis/${group}/${name}/things`);
const made = (thing: Thing = {}): Step[] => [post(definitions, things(thing)), settled(), served()];
/** Asks for this, as a dry run, until it is answered so: then the definition's change is served. */
const probed = (body: JsonObject, awaiting: number): Step => ({
  ...post(`${inHome()}?dryRun=All`, body),
  awaiting,
});
const inVersions = (...versions: readonly Json[]): Json => ({ spec: { versions } });

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
  ["no version that is stored", things({ versions: [version("v1", plain, { storage: false })] })],
  ["two versions that are stored", things({ versions: [version("v1", plain), version("v2", spec({}))] })],
  ["a version twice", things({ versions: [version("v1", plain), version("v1", plain, { storage: false })] })],
  ["a version that is no name", things({ versions: [version("V1", plain)] })],
  ["a version without a schema", things({ versions: [{ name: "v1", served: true, storage: true }] })],
  ["a schema that is empty", things({ versions: [version("v1", {})] })],
  ["a schema without types", things({ versions: [version("v1", spec({ a: {} }))] })],
  [
    "two versions, one without a type",
    things({ versions: [version("v1", plain), version("v2", spec({ a: {} }), { storage: false })] }),
  ],
  ["a schema of lists without items", things({ versions: [version("v1", spec({ a: { type: "array" } }))] })],
  [
    "a default that does not fit",
    things({ versions: [version("v1", spec({ a: { type: "integer", default: "x" } }))] }),
  ],
  [
    "a list by keys that are not required",
    things({
      versions: [
        version(
          "v1",
          spec({
            a: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              items: { type: "object", properties: { name: text } },
            },
          }),
        ),
      ],
    }),
  ],
  [
    "a list by keys that are not there",
    things({
      versions: [
        version(
          "v1",
          spec({
            a: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              items: { type: "object", properties: { other: text } },
            },
          }),
        ),
      ],
    }),
  ],
  [
    "a set of maps",
    things({
      versions: [
        version(
          "v1",
          spec({ a: { type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } } }),
        ),
      ],
    }),
  ],
  ["what it keeps is unknown", things({ more: { preserveUnknownFields: true } })],
  ["an unknown conversion", things({ more: { conversion: { strategy: "Magic" } } })],
  [
    "columns that are none",
    things({
      versions: [
        version("v1", plain, {
          additionalPrinterColumns: [
            { name: "A", type: "strange", jsonPath: ".spec.name" },
            { name: "", type: "string", jsonPath: "spec" },
            { name: "C", type: "string", jsonPath: ".spec[", format: "strange" },
          ],
        }),
      ],
    }),
  ],
  [
    "selectable fields that are none",
    things({
      versions: [
        version("v1", plain, {
          selectableFields: [
            { jsonPath: ".spec.none" },
            { jsonPath: "spec.name" },
            { jsonPath: ".spec" },
            { jsonPath: ".spec.name" },
            { jsonPath: ".spec.name" },
          ],
        }),
      ],
    }),
  ],
  [
    "a scale that is none",
    things({
      versions: [
        version("v1", plain, {
          subresources: {
            scale: { specReplicasPath: ".status.size", statusReplicasPath: "", labelSelectorPath: "x" },
          },
        }),
      ],
    }),
  ],
  [
    "a warning of what is not deprecated",
    things({ versions: [version("v1", plain, { deprecationWarning: "old" })] }),
  ],
  [
    "an empty warning",
    things({ versions: [version("v1", plain, { deprecated: true, deprecationWarning: "" })] }),
  ],
  [
    "a group of Kubernetes' own",
    definitionOf({
      group: "<id>.k8s.io",
      plural: "things",
      kind: "Thing",
      versions: [version("v1", plain)],
    }),
  ],
];

const refused: readonly Case[] = [
  ...wrong.map(([name, body]) => ({
    name: `refused: ${name}`,
    steps: [post(definitions, body), get(at)],
  })),
  {
    name: "refused: changes of one that is served",
    steps: [
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
    ],
  },
];

const states: readonly Case[] = [
  {
    name: "what is said of one that is new",
    steps: [
      named("made", post(definitions, things({ names: { shortNames: ["th"], categories: ["all"] } }))),
      settled(),
      get(at),
      get(`${at}/status`),
      post(definitions, things()),
    ],
  },
  {
    name: "with a status of its own, and read fields",
    steps: [
      post(definitions, {
        ...things(),
        status: { storedVersions: ["v9"], acceptedNames: { plural: "x", kind: "y" }, conditions: [] },
      }),
      settled(),
      get(at),
    ],
  },
  {
    name: "a dry run of one",
    steps: [post(`${definitions}?dryRun=All`, things()), get(at)],
  },
  {
    name: "a status that somebody else writes",
    steps: [
      ...made(),
      patch(`${at}/status`, { status: { storedVersions: [] } }),
      patch(`${at}/status`, { status: { storedVersions: ["v1", "v2"] } }),
      patch(`${at}/status`, { status: { acceptedNames: { kind: "Bad Kind" } } }),
      patch(`${at}/status`, { spec: { scope: "Cluster" }, metadata: { labels: { a: "b" } } }),
      patch(at, { metadata: { labels: { c: "d" } } }),
      patch(at, { status: { storedVersions: [] } }),
      get(at),
    ],
  },
  {
    name: "watched from the first to the last",
    steps: [
      named("made", post(definitions, things())),
      settled(),
      patch(at, { metadata: { labels: { last: "yes" } } }),
      watch(
        `${definitions}?watch=true&resourceVersion=<made.metadata.resourceVersion>&labelSelector=last%3Dyes`,
        `things.${group}`,
      ),
    ],
  },
];

const two = [version("v1", plain), version("v2", spec({ size: whole, more: text }), { storage: false })];
const changed: readonly Case[] = [
  {
    name: "a schema is tightened over objects that are there",
    steps: [
      ...made(),
      post(inHome(), thing("big", { size: 50, name: "x" })),
      post(inHome(), thing("small", { size: 1 })),
      patch(at, inVersions(version("v1", spec({ size: { ...whole, maximum: 10 } }, { required: ["size"] })))),
      probed(thing("probe", { size: 50 }), 422),
      served(),
      get(inHome()),
      post(inHome(), thing("new", { size: 11 })),
      patch(`${inHome()}/small`, { spec: { size: null } }),
      patch(`${inHome()}/big`, { spec: { name: "y" } }),
      patch(`${inHome()}/big?fieldManager=m`, { metadata: { annotations: { a: "b" } } }),
      patch(`${inHome()}/big`, { metadata: { labels: { a: "b" } } }),
      patch(`${inHome()}/big`, { spec: { size: 60 } }),
      patch(`${inHome()}/big`, { spec: { size: 5 } }),
      put(`${inHome()}/small`, thing("small", {})),
      del(`${inHome()}/big`),
    ],
  },
  {
    name: "a field goes, and one with a default comes",
    steps: [
      ...made(),
      post(inHome(), thing("a", { size: 1, name: "kept" })),
      patch(at, inVersions(version("v1", spec({ size: whole, added: { ...text, default: "given" } })))),
      saying(`${inHome()}/a`, '"given"'),
      served(),
      get(`${inHome()}/a`),
      patch(`${inHome()}/a`, { metadata: { labels: { a: "b" } } }),
      patch(at, inVersions(version("v1", plain))),
      {
        ...post(`${inHome()}?dryRun=All&fieldValidation=Strict`, thing("probe", { name: "x" })),
        awaiting: 201,
      },
      get(`${inHome()}/a`),
    ],
  },
  {
    name: "a version is added, and stored instead",
    steps: [
      ...made(),
      post(inHome(), thing("a", { size: 1, name: "first" })),
      patch(at, inVersions(...two)),
      served("v2"),
      served(),
      get(at),
      get(`${inHome("v2")}/a`),
      post(inHome("v2"), thing("b", { size: 2, more: "second" }, {}, "v2")),
      get(`${inHome()}/b`),
      patch(
        at,
        inVersions(
          version("v1", plain, { storage: false }),
          version("v2", spec({ size: whole, more: text })),
          version("v3", spec({ size: whole }), { storage: false }),
        ),
      ),
      served("v3"),
      served("v2"),
      served(),
      get(at),
      patch(`${inHome()}/a`, { spec: { size: 3 } }),
      post(inHome("v2"), thing("c", { size: 2, more: "third" }, {}, "v2")),
      get(`${inHome()}/c`),
      // What is still stored as v1 could not be read without it: a change that changes nothing moves it.
      patch(`${inHome()}/b`, {}),
      patch(`${inHome()}/b`, {}),
      patch(at, inVersions(version("v2", spec({ size: whole, more: text })))),
      patch(`${at}/status`, { status: { storedVersions: ["v2"] } }),
      patch(at, inVersions(version("v2", spec({ size: whole, more: text })))),
      awaited(`/apis/${group}/v1/things`, 404),
      served("v2"),
      get(at),
      get(`${inHome("v2")}/c`),
    ],
  },
  {
    name: "a version is no longer served",
    steps: [
      ...made({ versions: two }),
      served("v2"),
      post(inHome(), thing("a")),
      patch(
        at,
        inVersions(
          version("v1", plain, { served: false }),
          version("v2", spec({ size: whole, more: text }), { storage: false }),
        ),
      ),
      awaited(`/apis/${group}/v1/things`, 404),
      served("v2"),
      get(`${inHome()}/a`),
      post(inHome(), thing("b")),
      get(`${inHome("v2")}/a`),
      post(inHome("v2"), thing("b", { size: 2 }, {}, "v2")),
      patch(at, inVersions(version("v1", plain, { served: false }))),
      awaited(`/apis/${group}/v2/things`, 404),
      get(at),
      awaited(`/apis/${group}`, 404),
      patch(at, inVersions(version("v1", plain))),
      served(),
      get(`${inHome()}/a`),
    ],
  },
  {
    name: "columns change",
    steps: [
      ...made({ versions: two }),
      post(inHome(), thing("a", { size: 1, name: "n" })),
      get(inHome(), { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }),
      patch(
        at,
        inVersions(
          version("v1", plain, {
            additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
          }),
          version("v3", plain, { storage: false }),
        ),
      ),
      served("v3"),
      served(),
      get(inHome(), { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }),
    ],
  },
  {
    name: "a status comes, and goes",
    steps: [
      ...made(),
      post(inHome(), { ...thing("a"), status: { ready: true } }),
      get(`${inHome()}/a/status`),
      patch(at, inVersions(version("v1", plain, { subresources: { status: {} } }))),
      awaited(`${inHome()}/a/status`),
      served(),
      get(`${inHome()}/a/status`),
      patch(`${inHome()}/a`, { status: { ready: false } }),
      patch(`${inHome()}/a/status`, { status: { ready: false } }),
      patch(at, inVersions(version("v1", plain))),
      awaited(`${inHome()}/a/status`, 404),
      served(),
      patch(`${inHome()}/a`, { status: { ready: true } }),
      get(at),
    ],
  },
  {
    name: "other names for the same",
    steps: [
      ...made({ names: { shortNames: ["th"] } }),
      patch(at, { spec: { names: { shortNames: ["tg", "tx"], singular: "one", categories: ["all"] } } }),
      saying(at, '"singular":"one"},"conditions"'),
      saying(`/apis/${group}/v1`, '"tx"'),
      get(at),
      get(`/apis/${group}/v1`),
      patch(at, { spec: { names: { listKind: "ThingCollection" } } }),
      saying(
        at,
        '"listKind":"ThingCollection","plural":"things","shortNames":["tg","tx"],"singular":"one"},"conditions"',
      ),
      get(at),
    ],
  },
  {
    name: "a deprecated version warns",
    steps: [
      ...made({
        versions: [
          version("v1", plain, { deprecated: true }),
          version("v2", plain, { storage: false, deprecated: true, deprecationWarning: "use v3" }),
        ],
      }),
      served("v2"),
      get(inHome()),
      get(inHome("v2")),
      post(inHome(), thing("a")),
      get(`${inHome("v2")}/a`),
    ],
  },
];
const rivalAt = `${definitions}/rivals.${group}`;
const rival = (names: JsonObject, name = "rivals"): JsonObject =>
  definitionOf({ group, plural: name, kind: "Rival", names, versions: [version("v1", plain)] });
const rivals: readonly (readonly [string, JsonObject, string])[] = [
  ["kind", { kind: "Thing", singular: "rival", listKind: "RivalList" }, "KindConflict"],
  ["list kind", { listKind: "ThingList" }, "ListKindConflict"],
  ["kind that is a list", { kind: "ThingList" }, "KindConflict"],
  ["singular", { singular: "thing" }, "SingularConflict"],
  ["singular that is a plural", { singular: "things" }, "SingularConflict"],
  ["short name", { shortNames: ["ok", "th"] }, "ShortNamesConflict"],
  ["short names", { shortNames: ["th", "tg"] }, "ShortNamesConflict"],
  ["short name that is a plural", { shortNames: ["things"] }, "ShortNamesConflict"],
  [
    "kind, singular and short name",
    { kind: "Thing", singular: "thing", shortNames: ["th"] },
    "ListKindConflict",
  ],
];
const conflicts: readonly Case[] = [
  ...rivals.map(([name, names, reason]) => ({
    name: `rivals for one ${name}`,
    steps: [
      ...made({ names: { shortNames: ["th", "tg"] } }),
      post(definitions, rival(names)),
      saying(rivalAt, `"reason":"${reason}"`),
      get(rivalAt),
      get(`/apis/${group}/v1/rivals`),
      get(`/apis/${group}/v1/namespaces/<ns>/rivals`),
      get(at),
    ],
  })),
  {
    name: "a rival waits until the name is free",
    steps: [
      ...made(),
      post(definitions, rival({ kind: "Thing", singular: "rival", listKind: "RivalList" })),
      saying(rivalAt, '"KindConflict"'),
      del(at),
      awaited(at, 404),
      settled(rivalAt),
      awaited(`/apis/${group}/v1/rivals`),
      get(rivalAt),
      post(`/apis/${group}/v1/namespaces/<ns>/rivals`, object(apiVersion, "Thing", "a")),
    ],
  },
  {
    name: "a rival takes another name",
    steps: [
      ...made(),
      post(definitions, rival({ kind: "Thing" })),
      saying(rivalAt, '"ListKindConflict"'),
      patch(rivalAt, { spec: { names: { kind: "Rival", singular: "rival", listKind: "RivalList" } } }),
      settled(rivalAt),
      get(rivalAt),
      awaited(`/apis/${group}/v1/rivals`),
      get(`/apis/${group}/v1/rivals`),
    ],
  },
  {
    name: "one that is served wants a name that is taken",
    steps: [
      ...made({ names: { shortNames: ["th"] } }),
      post(definitions, rival({})),
      settled(rivalAt),
      patch(rivalAt, { spec: { names: { shortNames: ["th"], singular: "thing" } } }),
      saying(rivalAt, '"ShortNamesConflict"'),
      get(rivalAt),
      awaited(`/apis/${group}/v1/rivals`),
      patch(rivalAt, { spec: { names: { shortNames: ["rv"], singular: "rival" } } }),
      saying(rivalAt, '"NoConflicts"'),
      get(rivalAt),
    ],
  },
];

const gone = awaited(at, 404);
const notServed = awaited(`/apis/${group}/v1/things`, 404);
const deleted: readonly Case[] = [
  {
    name: "deleted with nothing in it",
    steps: [...made(), del(at), gone, notServed, get(inHome()), get(at), del(at)],
  },
  {
    name: "deleted by the policies",
    steps: [
      ...made(),
      del(at, { propagationPolicy: "Foreground", dryRun: ["All"] }),
      del(at, { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } }),
      del(at, { preconditions: { resourceVersion: "1" } }),
      del(at, { propagationPolicy: "Orphan" }),
      gone,
    ],
  },
  {
    name: "deleted with objects, and made again",
    steps: [
      ...made(),
      post(inHome(), thing("a")),
      post(inHome(), thing("b")),
      del(at),
      gone,
      notServed,
      get(`${inHome()}/a`),
      ...made({ versions: [version("v1", spec({ other: text }))] }),
      get(inHome()),
      post(inHome(), thing("a", { other: "x" })),
    ],
  },
  {
    name: "deleted with an object that a finalizer holds",
    steps: [
      ...made(),
      post(inHome(), thing("free")),
      post(inHome(), thing("held", { size: 1 }, { finalizers: ["example.com/hold"] })),
      del(at),
      saying(at, '"InstanceDeletionInProgress"'),
      saying(`${inHome()}/held`, '"deletionTimestamp"'),
      awaited(`${inHome()}/free`, 404),
      get(at),
      get(`${inHome()}/held`),
      probed(thing("probe"), 403),
      post(inHome(), thing("late")),
      put(`${inHome()}/none`, thing("none")),
      patch(at, { metadata: { labels: { a: "b" } } }),
      post(definitions, things()),
      del(at),
      patch(`${inHome()}/held`, { spec: { size: 2 } }),
      patch(`${inHome()}/held`, { metadata: { finalizers: null } }),
      gone,
      notServed,
      get(`${inHome()}/held`),
    ],
  },
  {
    name: "deleted while a finalizer of its own holds it",
    steps: [
      post(definitions, {
        ...things(),
        metadata: { name: `things.${group}`, finalizers: ["example.com/hold"] },
      }),
      settled(),
      served(),
      post(inHome(), thing("a")),
      // Whether the end comes in the second in which it began decides who owns its time: nobody does, then.
      patch(at, { metadata: { managedFields: [{}] } }),
      del(at),
      saying(at, '"InstanceDeletionCompleted"'),
      saying(at, '"finalizers":["example.com/hold"]'),
      get(at),
      get(inHome()),
      patch(at, { metadata: { finalizers: null } }),
      gone,
    ],
  },
  {
    name: "deleted though it was never served",
    steps: [
      ...made(),
      post(definitions, rival({ kind: "Thing" })),
      saying(rivalAt, '"ListKindConflict"'),
      del(rivalAt),
      awaited(rivalAt, 404),
      get(at),
    ],
  },
];

export const definitionCases: readonly Case[] = [...refused, ...states, ...changed, ...conflicts, ...deleted];
