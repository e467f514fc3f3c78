// Deletions: preconditions, policies, finalizers in every order, pods with a grace period.
import type { Json, JsonObject } from "../../src/json.ts";
import { configMap, configMapsIn, gadgetsAt, pod, podsIn, widget, widgetsIn } from "../fixtures.ts";
import { caseOf, del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const options = (more: JsonObject): JsonObject => ({ kind: "DeleteOptions", apiVersion: "v1", ...more });
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

const held = (path: string, one: JsonObject): Step[] => [
  named(
    "made",
    post(path, { ...one, metadata: { ...(one["metadata"] as JsonObject), finalizers: ["e.x/a", "e.x/b"] } }),
  ),
  named("gone", del(`${path}/a`)),
  del(`${path}/a`),
  del(`${path}/a`, options({ preconditions: { uid: unknownUid } })),
  del(`${path}/a`, options({ gracePeriodSeconds: 3 })),
  patch(`${path}/a`, { metadata: { labels: { still: "there" } } }),
  patch(`${path}/a`, { metadata: { finalizers: ["e.x/a", "e.x/b", "e.x/c"] } }),
  patch(`${path}/a`, { metadata: { finalizers: ["e.x/b", "e.x/a"] } }),
  patch(`${path}/a`, { metadata: { deletionTimestamp: null } }),
  patch(`${path}/a`, { metadata: { deletionGracePeriodSeconds: 100 } }),
  put(`${path}/a`, {
    ...one,
    metadata: { name: "a", finalizers: ["e.x/a"], resourceVersion: "<gone.metadata.resourceVersion>" },
  }),
  post(path, one),
  patch(`${path}/a`, { metadata: { finalizers: ["e.x/a"] } }),
  get(`${path}/a`),
  patch(`${path}/a?dryRun=All`, { metadata: { finalizers: null } }),
  get(`${path}/a`),
  patch(`${path}/a`, { metadata: { finalizers: [] } }),
  get(`${path}/a`),
  post(path, one),
];

const bind = (name: string): Step =>
  post(`${podsIn}/${name}/binding`, object("v1", "Binding", name, { target: { kind: "Node", name: "n" } }));
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
  ...bodies.flatMap((body): Case[] => {
    const name = JSON.stringify(body).slice(0, 110);
    return [
      caseOf(
        `a ConfigMap with ${name}`,
        named("made", post(configMapsIn, configMap("a"))),
        del(`${configMapsIn}/a`, body),
        get(`${configMapsIn}/a`),
      ),
      caseOf(
        `a Widget with ${name}`,
        named("made", post(widgetsIn, widget("a"))),
        del(`${widgetsIn}/a`, body),
        get(`${widgetsIn}/a`),
      ),
    ];
  }),
  ...queries.map((query) =>
    caseOf(
      `with the query ${query}`,
      ...[configMapsIn, widgetsIn].flatMap((path) => [
        post(path, path === widgetsIn ? widget("a") : configMap("a")),
        del(`${path}/a?${query}`),
        get(`${path}/a`),
      ]),
    ),
  ),
  caseOf("finalizers of a ConfigMap", ...held(configMapsIn, configMap("a"))),
  caseOf("finalizers of a Widget", ...held(widgetsIn, widget("a"))),
  caseOf(
    "finalizers of a Gadget",
    ...held(gadgetsAt, object("example.com/v1", "Gadget", "a")).map(
      (step) =>
        JSON.parse(
          JSON.stringify(step)
            .replaceAll('gadgets/a"', 'gadgets/<id>"')
            .replaceAll('"name":"a"', '"name":"<id>"')
            .replaceAll("gadgets/a?", "gadgets/<id>?"),
        ) as Step,
    ),
  ),
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
