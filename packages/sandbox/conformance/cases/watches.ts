// Watches: their first version, their initial events, selected changes, and shapes.
import { bind, configMapsIn, gadget, gadgetsAt, pod, podsIn, widgetsIn } from "../fixtures.ts";
import { mapsAndWidgets, type Place } from "../places.ts";
import { caseOf, del, get, named, patch, post, watch } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

/** Changes of every sort; the object `last` is the end. */
const changes = ({ path, of }: Place): readonly Step[] => [
  named("start", get(path)),
  named("first", post(path, of("a", { labels: { app: "one" } }))),
  named("second", post(path, of("b", { labels: {} }))),
  patch(`${path}/a`, { metadata: { labels: { app: "two" } } }),
  patch(`${path}/b`, { metadata: { labels: { app: "one" } } }),
  patch(`${path}/b`, {}),
  patch(`${path}/a`, { metadata: { finalizers: ["e.x/a"] } }),
  del(`${path}/a`),
  patch(`${path}/a`, { metadata: { finalizers: null } }),
  del(`${path}/b`),
  named("again", post(path, of("a", { labels: { app: "one" } }))),
  named("last", post(path, of("last", { labels: { app: "one", last: "yes" } }))),
  get(path),
];
const ofMaps = mapsAndWidgets.slice(0, 1).flatMap(changes);
const both = (name: string, query: string, until = "last", headers: Record<string, string> = {}): Case[] =>
  mapsAndWidgets.map((place) =>
    caseOf(`${name} (${place.kind}s)`, ...changes(place), {
      ...watch(`${place.path}?watch=1${query}&timeoutSeconds=${until === "none" ? 1 : 3}`, until),
      headers,
    }),
  );
const from = "&resourceVersion=<start.metadata.resourceVersion>";
const as = (shape: string) => ({ accept: `application/json;as=${shape};g=meta.k8s.io;v=v1` });
const initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

const refused = [
  ...`&resourceVersion=x &resourceVersion=-1 &resourceVersionMatch=Exact
  &resourceVersionMatch=NotOlderThan &sendInitialEvents=true
  &sendInitialEvents=true&resourceVersionMatch=Exact
  &sendInitialEvents=x&resourceVersionMatch=NotOlderThan
  &sendInitialEvents=false&resourceVersionMatch=Exact&resourceVersion=5
  &resourceVersionMatch=NotOlderThan&continue=x &labelSelector=%21%21 &fieldSelector=data%3D1
  &timeoutSeconds=x &limit=x &allowWatchBookmarks=x &includeObject=x`.split(/\s+/),
];

export const watches: readonly Case[] = [
  ...both("from the beginning", from),
  ...both("from the first object on", "&resourceVersion=<first.metadata.resourceVersion>"),
  ...both("from the last but one", "&resourceVersion=<again.metadata.resourceVersion>"),
  ...both("from nothing", ""),
  ...both("from zero", "&resourceVersion=0"),
  ...both("with initial events", initial, "initial-events-end"),
  ...both("with initial events from zero", `${initial}&resourceVersion=0`, "initial-events-end"),
  ...both(
    "with initial events not older than the last",
    `${initial}&resourceVersion=<last.metadata.resourceVersion>`,
    "initial-events-end",
  ),
  ...both(
    "without initial events from a version",
    `${from}&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  ),
  ...both(
    "with initial events but no bookmarks",
    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  ),
  ...both("labels", `${from}&labelSelector=app%3Done`),
  ...both("labels that are not there", `${from}&labelSelector=%21app%2Clast%21%3Dyes`, "none"),
  ...both("a name", `${from}&fieldSelector=metadata.name%3Da`, "none"),
  ...both("labels and initial events", `${initial}&labelSelector=last`, "initial-events-end"),
  ...both("tables", from, "last", as("Table")),
  ...both("tables with whole objects", `${from}&includeObject=Object`, "last", as("Table")),
  ...both("metadata only", from, "last", as("PartialObjectMetadata")),
  ...both("metadata only, with initial events", initial, "initial-events-end", as("PartialObjectMetadata")),
  ...both("an unknown shape", from, "last", as("PartialObjectMetadataList")),
  caseOf(
    "of one object, by its path",
    ...ofMaps,
    watch(`${configMapsIn}/a?watch=1&timeoutSeconds=2`, "none"),
    get(`${configMapsIn}/a?watch=1&timeoutSeconds=1`),
  ),
  caseOf(
    "over all namespaces",
    ...ofMaps,
    watch(
      "/api/v1/configmaps?watch=true&fieldSelector=metadata.namespace%3D<ns>&resourceVersion=<start.metadata.resourceVersion>&timeoutSeconds=3",
      "last",
    ),
  ),
  caseOf(
    "of a version that has not come",
    ...ofMaps,
    watch(`${configMapsIn}?watch=1&resourceVersion=99999999${initial}&timeoutSeconds=1`, "none"),
  ),
  caseOf(
    "of pods that go gracefully",
    named("start", get(podsIn)),
    post(podsIn, pod("a")),
    bind("a"),
    patch(`${podsIn}/a/status`, { status: { phase: "Running" } }),
    del(`${podsIn}/a`),
    del(`${podsIn}/a`, { gracePeriodSeconds: 0 }),
    post(podsIn, pod("last")),
    get(podsIn),
    watch(`${podsIn}?watch=1${from}&timeoutSeconds=3`, "last"),
    watch(`${podsIn}?watch=1${from}&fieldSelector=status.phase%3DRunning&timeoutSeconds=1`, "none"),
  ),
  caseOf(
    "of gadgets",
    named("start", get(`${gadgetsAt}?labelSelector=id%3D<id>`)),
    post(gadgetsAt, gadget("<id>", { labels: { id: "<id>" } })),
    del(`${gadgetsAt}/<id>`),
    watch(`${gadgetsAt}?watch=1${from}&labelSelector=id%3D<id>&timeoutSeconds=1`, "none"),
  ),
  ...refused.map((query) =>
    caseOf(
      `refused: ${query.slice(1)}`,
      ...[configMapsIn, widgetsIn].map((path) => watch(`${path}?watch=1${query}&timeoutSeconds=1`, "none")),
    ),
  ),
];
