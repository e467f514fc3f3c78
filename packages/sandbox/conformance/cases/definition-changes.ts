// Changes of definitions that have objects.
import type { JsonObject } from "../../src/json.ts";
import { definitions, spec, version } from "../fixtures.ts";
import { caseOf, awaited, del, get, named, patch, post, put, saying, watch } from "../steps.ts";
import type { Case } from "../steps.ts";
import { aOrB, free, keyedBy, list, mapOf, set, struct, text, whole } from "../schemas.ts";
import {
  group,
  at,
  inHome,
  plain,
  things,
  thing,
  settled,
  served,
  made,
  madeWith,
  withStatus,
  probed,
  inVersions,
} from "../things.ts";

/** A schema of the same structure, with these limits. */
const limited = (size: JsonObject, way: JsonObject, of: JsonObject): JsonObject =>
  struct({
    spec: struct({
      items: keyedBy(struct({ name: text, size }, { required: ["name"] }), "name"),
      plain: list(size),
      map: mapOf(size),
      way: struct({ a: text, b: text }, way),
      set: of,
      other: text,
    }),
    status: struct({ n: size, m: whole }),
  });
const loose = limited(whole, {}, list(text));
const tight = limited({ ...whole, maximum: 10 }, { oneOf: aOrB }, set(text));
const left = {
  items: [
    { name: "x", size: 50 },
    { name: "y", size: 60 },
  ],
  plain: [50, 60],
  map: { a: 50 },
  way: { a: "1", b: "2" },
  set: ["a", "a"],
};

const states: readonly Case[] = [
  caseOf(
    "the conditions of a new one",
    named("made", post(definitions, things({ names: { shortNames: ["th"], categories: ["all"] } }))),
    settled(),
    get(at),
    get(`${at}/status`),
    post(definitions, things()),
  ),
  caseOf(
    "with a status of its own, and read fields",
    post(definitions, {
      ...things(),
      status: { storedVersions: ["v9"], acceptedNames: { plural: "x", kind: "y" }, conditions: [] },
    }),
    settled(),
    get(at),
  ),
  caseOf("a dry run of one", post(`${definitions}?dryRun=All`, things()), get(at)),
  caseOf(
    "a status that another client writes",
    ...made(),
    patch(`${at}/status`, { status: { storedVersions: [] } }),
    patch(`${at}/status`, { status: { storedVersions: ["v1", "v2"] } }),
    patch(`${at}/status`, { status: { acceptedNames: { kind: "Bad Kind" } } }),
    patch(`${at}/status`, { spec: { scope: "Cluster" }, metadata: { labels: { a: "b" } } }),
    patch(at, { metadata: { labels: { c: "d" } } }),
    patch(at, { status: { storedVersions: [] } }),
    get(at),
  ),
  caseOf(
    "watched from the first to the last",
    named("made", post(definitions, things())),
    settled(),
    patch(at, { metadata: { labels: { last: "yes" } } }),
    watch(
      `${definitions}?watch=true&resourceVersion=<made.metadata.resourceVersion>&labelSelector=last%3Dyes`,
      `things.${group}`,
    ),
  ),
];

/** Columns by every form of path, with the type of their cells. */
const columns = [
  [".spec.b[0].c", "integer"],
  [".spec.b[1].t", "string"],
  [".spec.b[0].on", "boolean"],
  [".spec.b[*].c", "integer"],
  [".spec.b[0]", "string"],
  [".spec['d.e']", "integer"],
  [".spec.d\\.e", "integer"],
  ['.spec.b[?(@.t=="y")].c', "integer"],
  [".spec.b[?(@.on==true)].t", "string"],
  [".spec.on", "boolean"],
  [".spec.none", "string"],
  [".spec.at", "date"],
  [".spec.at", "integer"],
] as const;
const two = [version("v1", plain), version("v2", spec({ size: whole, more: text }), { storage: false })];
const changed: readonly Case[] = [
  caseOf(
    "a schema is tightened over objects that are there",
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
  ),
  caseOf(
    "lists, maps, ways and sets that objects were left in",
    ...madeWith(loose, withStatus),
    post(inHome(), thing("a", left)),
    named("live", put(`${inHome()}/a/status`, { ...thing("a", left), status: { n: 9 } })),
    named("now", get(`${inHome()}/a`)),
    put(`${inHome()}/a/status`, {
      ...thing("a", left, { resourceVersion: "<now.metadata.resourceVersion>" }),
      status: { n: 9, m: 1 },
    }),
    patch(at, inVersions(version("v1", tight, withStatus))),
    probed(thing("probe", { items: [{ name: "x", size: 50 }] }), 422),
    served(),
    // A value that does not change may stay invalid, also in another place of a list with keys.
    patch(`${inHome()}/a`, { spec: { other: "x" } }),
    patch(`${inHome()}/a`, {
      spec: {
        items: [
          { name: "y", size: 60 },
          { name: "x", size: 50 },
        ],
      },
    }),
    patch(`${inHome()}/a`, {
      spec: {
        items: [
          { name: "y", size: 61 },
          { name: "x", size: 50 },
        ],
      },
    }),
    patch(`${inHome()}/a`, { spec: { plain: [50, 60] } }),
    patch(`${inHome()}/a`, { spec: { plain: [50] } }),
    patch(`${inHome()}/a`, { spec: { map: { a: 50, b: 5 } } }),
    patch(`${inHome()}/a`, { spec: { map: { a: 51 } } }),
    patch(`${inHome()}/a`, { spec: { way: { a: "1", b: "2" } } }),
    patch(`${inHome()}/a`, { spec: { way: { a: "1", b: "3" } } }),
    patch(`${inHome()}/a`, { spec: { set: ["a", "a", "b"] } }),
    patch(`${inHome()}/a/status`, { status: { m: 2 } }),
    patch(`${inHome()}/a/status`, { status: { n: 8 } }),
    patch(`${inHome()}/a`, { spec: { set: ["a", "b"] } }),
    patch(`${inHome()}/a`, { spec: { set: ["a", "a"] } }),
    get(`${inHome()}/a`),
  ),
  caseOf(
    "a field goes, and one with a default comes",
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
  ),
  caseOf(
    "a version is added, and stored instead",
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
    // An object that is stored as v1 could not be read without v1. An empty change stores it again.
    patch(`${inHome()}/b`, {}),
    patch(`${inHome()}/b`, {}),
    patch(at, inVersions(version("v2", spec({ size: whole, more: text })))),
    patch(`${at}/status`, { status: { storedVersions: ["v2"] } }),
    patch(at, inVersions(version("v2", spec({ size: whole, more: text })))),
    awaited(`/apis/${group}/v1/things`, 404),
    served("v2"),
    get(at),
    get(`${inHome("v2")}/c`),
  ),
  caseOf(
    "a version is no longer served",
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
  ),
  caseOf(
    "columns by every form of path",
    ...madeWith(struct({ spec: free }), {
      additionalPrinterColumns: columns.map(([jsonPath, type], i) => ({ name: `C${i}`, type, jsonPath })),
    }),
    post(
      inHome(),
      thing("a", {
        b: [
          { c: 1, t: "x" },
          { c: 2, t: "y", on: true },
        ],
        "d.e": 3,
        on: true,
        at: "2020-01-01T00:00:00Z",
      }),
    ),
    get(inHome(), { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }),
  ),
  caseOf(
    "columns change",
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
  ),
  caseOf(
    "a status comes, and goes",
    ...made(),
    post(inHome(), { ...thing("a"), status: { ready: true } }),
    get(`${inHome()}/a/status`),
    patch(at, inVersions(version("v1", plain, withStatus))),
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
  ),
  caseOf(
    "other names for the same",
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
  ),
  caseOf(
    "a deprecated version warns",
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
  ),
];
export const definitionChanges: readonly Case[] = [...states, ...changed];
