// Definitions with the same names, and the end of definitions.
import type { JsonObject } from "../../src/json.ts";
import { definitionOf, definitions, spec, version } from "../fixtures.ts";
import { caseOf, awaited, del, get, object, patch, post, put, saying } from "../steps.ts";
import type { Case } from "../steps.ts";
import { text } from "../schemas.ts";
import {
  group,
  apiVersion,
  at,
  inHome,
  plain,
  things,
  thing,
  settled,
  served,
  made,
  madeWith,
  probed,
} from "../things.ts";

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
  ...rivals.map(([name, names, reason]) =>
    caseOf(
      `rivals for one ${name}`,
      ...made({ names: { shortNames: ["th", "tg"] } }),
      post(definitions, rival(names)),
      saying(rivalAt, `"reason":"${reason}"`),
      get(rivalAt),
      get(`/apis/${group}/v1/rivals`),
      get(`/apis/${group}/v1/namespaces/<ns>/rivals`),
      get(at),
    ),
  ),
  caseOf(
    "a rival waits until the name is free",
    ...made(),
    post(definitions, rival({ kind: "Thing", singular: "rival", listKind: "RivalList" })),
    saying(rivalAt, '"KindConflict"'),
    del(at),
    awaited(at, 404),
    settled(rivalAt),
    awaited(`/apis/${group}/v1/rivals`),
    get(rivalAt),
    post(`/apis/${group}/v1/namespaces/<ns>/rivals`, object(apiVersion, "Thing", "a")),
  ),
  caseOf(
    "a rival takes another name",
    ...made(),
    post(definitions, rival({ kind: "Thing" })),
    saying(rivalAt, '"ListKindConflict"'),
    patch(rivalAt, { spec: { names: { kind: "Rival", singular: "rival", listKind: "RivalList" } } }),
    settled(rivalAt),
    get(rivalAt),
    awaited(`/apis/${group}/v1/rivals`),
    get(`/apis/${group}/v1/rivals`),
  ),
  caseOf(
    "one that is served wants a name that is taken",
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
  ),
];

const gone = awaited(at, 404);
const notServed = awaited(`/apis/${group}/v1/things`, 404);
const deleted: readonly Case[] = [
  caseOf("deleted with nothing in it", ...made(), del(at), gone, notServed, get(inHome()), get(at), del(at)),
  caseOf(
    "deleted by the policies",
    ...made(),
    del(at, { propagationPolicy: "Foreground", dryRun: ["All"] }),
    del(at, { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } }),
    del(at, { preconditions: { resourceVersion: "1" } }),
    del(at, { propagationPolicy: "Orphan" }),
    gone,
  ),
  caseOf(
    "deleted with objects, and made again",
    ...made(),
    post(inHome(), thing("a")),
    post(inHome(), thing("b")),
    del(at),
    gone,
    notServed,
    get(`${inHome()}/a`),
    ...madeWith(spec({ other: text })),
    get(inHome()),
    post(inHome(), thing("a", { other: "x" })),
  ),
  caseOf(
    "deleted with an object that a finalizer holds",
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
  ),
  caseOf(
    "deleted while a finalizer of its own holds it",
    post(definitions, {
      ...things(),
      metadata: { name: `things.${group}`, finalizers: ["example.com/hold"] },
    }),
    settled(),
    served(),
    post(inHome(), thing("a")),
    // The managers of its time depend on the second of the end.
    del(at),
    saying(at, '"InstanceDeletionCompleted"'),
    saying(at, '"finalizers":["example.com/hold"]'),
    get(at),
    get(inHome()),
    patch(at, { metadata: { finalizers: null } }),
    gone,
  ),
  caseOf(
    "deleted though it was never served",
    ...made(),
    post(definitions, rival({ kind: "Thing" })),
    saying(rivalAt, '"ListKindConflict"'),
    del(rivalAt),
    awaited(rivalAt, 404),
    get(at),
  ),
];

export const definitionEnds: readonly Case[] = [...conflicts, ...deleted];
