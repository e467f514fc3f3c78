// Deletions: preconditions, policies, finalizers in every order, pods with a grace period.
import type { Json, JsonObject } from "../../src/json.ts";
import { bind, configMap, configMapsIn, gadgetsAt, pod, podsIn, widgetsIn } from "../fixtures.ts";
import { gadgets, mapsAndWidgets, type Place } from "../places.ts";
import { caseOf, del, deleteOptions as options, get, named, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const unknownUid = "00000000-0000-0000-0000-000000000000";

/** Without the two policies that a garbage collector carries out: the real server here has none. */
const bodies: readonly Json[] = [
  {},
  options({}),
  options({ preconditions: { uid: unknownUid } }),
  options({ preconditions: { resourceVersion: "1" } }),
  options({ preconditions: { uid: "<made.metadata.uid>", resourceVersion: "1" } }),
  options({
    preconditions: { uid: "<made.metadata.uid>", resourceVersion: "<made.metadata.resourceVersion>" },
  }),
  options({ preconditions: {} }),
  options({ preconditions: { uid: 1 } }),
  options({ propagationPolicy: "Background" }),
  options({ propagationPolicy: "Other" }),
  options({ gracePeriodSeconds: 0 }),
  options({ gracePeriodSeconds: 5 }),
  options({ gracePeriodSeconds: -1 }),
  options({ gracePeriodSeconds: "5" }),
  options({ gracePeriodSeconds: 1.5 }),
  options({ dryRun: ["All"] }),
  options({ dryRun: ["x"] }),
  options({ bogus: 1 }),
  { kind: "Other", apiVersion: "v1" },
  { kind: "DeleteOptions", apiVersion: "v2" },
  { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", propagationPolicy: "Background" },
];
const queries = [
  "dryRun=All",
  "dryRun=x",
  "propagationPolicy=x",
  "gracePeriodSeconds=0",
  "gracePeriodSeconds=x",
  "gracePeriodSeconds=-5",
];

/** Steps about an object that finalizers hold. */
function held({ path, of }: Place, name: string): Step[] {
  const at = `${path}/${name}`;
  return [
    named("made", post(path, of(name, { finalizers: ["e.x/a", "e.x/b"] }))),
    named("gone", del(at)),
    del(at),
    del(at, options({ preconditions: { uid: unknownUid } })),
    del(at, options({ gracePeriodSeconds: 3 })),
    patch(at, { metadata: { labels: { still: "there" } } }),
    patch(at, { metadata: { finalizers: ["e.x/a", "e.x/b", "e.x/c"] } }),
    patch(at, { metadata: { finalizers: ["e.x/b", "e.x/a"] } }),
    patch(at, { metadata: { deletionTimestamp: null } }),
    patch(at, { metadata: { deletionGracePeriodSeconds: 100 } }),
    put(at, of(name, { finalizers: ["e.x/a"], resourceVersion: "<gone.metadata.resourceVersion>" })),
    post(path, of(name)),
    patch(at, { metadata: { finalizers: ["e.x/a"] } }),
    get(at),
    patch(`${at}?dryRun=All`, { metadata: { finalizers: null } }),
    get(at),
    patch(at, { metadata: { finalizers: [] } }),
    get(at),
    post(path, of(name)),
  ];
}

const graceful = (name: string, spec: JsonObject, ...steps: readonly Step[]): Case =>
  caseOf(
    `a pod on a node, ${name}`,
    // The list waits until the cache of the real server has the binding: a deletion may start from it.
    post(podsIn, pod("a", spec)),
    bind("a"),
    get(podsIn),
    ...steps,
    get(`${podsIn}/a`),
  );
const grace = (gracePeriodSeconds: number): Step => del(`${podsIn}/a`, options({ gracePeriodSeconds }));

export const deletion: readonly Case[] = [
  ...bodies.flatMap((body) =>
    mapsAndWidgets.map(({ kind, path, of }) =>
      caseOf(
        `a ${kind} with ${JSON.stringify(body).slice(0, 110)}`,
        named("made", post(path, of("a"))),
        del(`${path}/a`, body),
        get(`${path}/a`),
      ),
    ),
  ),
  ...queries.map((query) =>
    caseOf(
      `with the query ${query}`,
      ...mapsAndWidgets.flatMap(({ path, of }) => [
        post(path, of("a")),
        del(`${path}/a?${query}`),
        get(`${path}/a`),
      ]),
    ),
  ),
  ...mapsAndWidgets.map((place) => caseOf(`finalizers of a ${place.kind}`, ...held(place, "a"))),
  caseOf("finalizers of a Gadget", ...held(gadgets, "<id>")),
  caseOf(
    "what is not there",
    del(`${configMapsIn}/a`),
    del(`${widgetsIn}/a`),
    del(`${gadgetsAt}/<id>`),
    del(`${podsIn}/a`),
    del("/api/v1/namespaces/<id>"),
    del("/api/v1/namespaces/<id>/configmaps/a"),
  ),
  caseOf(
    "an immutable ConfigMap, and what it refuses before",
    post(configMapsIn, configMap("a", { immutable: true, data: { a: "1" } })),
    patch(`${configMapsIn}/a`, { data: { a: "2" } }),
    patch(`${configMapsIn}/a`, { immutable: null }),
    patch(`${configMapsIn}/a`, { binaryData: { b: "AA==" } }),
    patch(`${configMapsIn}/a`, { metadata: { labels: { a: "b" } } }),
    del(`${configMapsIn}/a`),
  ),
  graceful(
    "deleted, and again with less and with more",
    {},
    del(`${podsIn}/a`),
    grace(10),
    grace(20),
    grace(10),
  ),
  graceful("deleted with no grace", {}, grace(0)),
  graceful("deleted, then with no grace", {}, del(`${podsIn}/a`), grace(0)),
  graceful("deleted with a grace below none", {}, grace(-1)),
  graceful("with a grace of its own", { terminationGracePeriodSeconds: 7 }, del(`${podsIn}/a`)),
  graceful("with no grace of its own", { terminationGracePeriodSeconds: 0 }, del(`${podsIn}/a`)),
  graceful(
    "that has finished",
    {},
    patch(`${podsIn}/a/status`, { status: { phase: "Succeeded" } }),
    del(`${podsIn}/a`),
  ),
  graceful(
    "changed while it goes",
    {},
    del(`${podsIn}/a`),
    patch(`${podsIn}/a`, { metadata: { labels: { a: "b" } } }),
    patch(`${podsIn}/a/status`, { status: { phase: "Failed" } }),
  ),
  graceful(
    "held by a finalizer",
    {},
    patch(`${podsIn}/a`, { metadata: { finalizers: ["e.x/a"] } }),
    grace(0),
    patch(`${podsIn}/a`, { metadata: { finalizers: null } }),
  ),
  graceful(
    "by a dry run",
    {},
    del(`${podsIn}/a?dryRun=All`),
    del(`${podsIn}/a`, options({ dryRun: ["All"], gracePeriodSeconds: 0 })),
  ),
  caseOf("a pod on no node", post(podsIn, pod("a")), del(`${podsIn}/a`), get(`${podsIn}/a`)),
  caseOf(
    "a pod on no node, held",
    post(podsIn, pod("a", {}, { finalizers: ["e.x/a"] })),
    del(`${podsIn}/a`),
    del(`${podsIn}/a`),
    get(`${podsIn}/a`),
  ),
];
