// Deleted namespaces. Neither server has a controller that empties them, so they stay Terminating.
import type { Json, JsonObject } from "../../src/json.ts";
import { bind, configMap, configMapsIn, pod, podsIn, widget, widgetsIn } from "../fixtures.ts";
import {
  caseOf,
  del,
  deleteOptions as options,
  get,
  named,
  object,
  patch,
  post,
  put,
  watch,
} from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const all = "/api/v1/namespaces";
const home = `${all}/<ns>`;
const namespace = (more: JsonObject = {}, metadata: JsonObject = {}): JsonObject =>
  object("v1", "Namespace", "<id>", more, metadata);
const own = `${all}/<id>`;

/** The namespace of the case is deleted, and has content. */
const leaving = (name: string, ...steps: readonly Step[]): Case =>
  caseOf(
    `one with content: ${name}`,
    post(configMapsIn, configMap("a")),
    post(widgetsIn, widget("a")),
    post(podsIn, pod("a")),
    named("gone", del(home)),
    ...steps,
  );

const deleted = (name: string, body?: Json, metadata?: JsonObject): Case =>
  caseOf(
    `deleted with ${name}`,
    named("made", post(all, namespace({}, metadata))),
    del(own, body),
    get(own),
    del(own),
    del(own, options({ propagationPolicy: "Orphan" })),
    get(own),
  );

export const namespaces: readonly Case[] = [
  deleted("nothing"),
  deleted("a grace", options({ gracePeriodSeconds: 30 })),
  deleted("no grace", options({ gracePeriodSeconds: 0 })),
  deleted("Foreground", options({ propagationPolicy: "Foreground" })),
  deleted("Orphan", options({ propagationPolicy: "Orphan" })),
  deleted("Background", options({ propagationPolicy: "Background" })),
  deleted("a dry run", options({ dryRun: ["All"] })),
  deleted("a wrong uid", options({ preconditions: { uid: "00000000-0000-0000-0000-000000000000" } })),
  deleted("its uid", options({ preconditions: { uid: "<made.metadata.uid>" } })),
  deleted("an old version", options({ preconditions: { resourceVersion: "1" } })),
  deleted("a finalizer of its own", undefined, { finalizers: ["example.com/a"] }),
  deleted("the finalizer orphan", undefined, { finalizers: ["orphan"] }),
  leaving(
    "nothing new",
    post(configMapsIn, configMap("b")),
    post(widgetsIn, widget("b")),
    post(podsIn, pod("b")),
    post(configMapsIn, { metadata: { generateName: "b-" } }),
    post(`${configMapsIn}?dryRun=All`, configMap("b")),
    post(configMapsIn, configMap("a")),
    post(widgetsIn, { ...widget("b"), spec: { size: 1000 } }),
    post(configMapsIn, configMap("B_")),
  ),
  leaving(
    "what is there is changed and deleted",
    put(`${configMapsIn}/a`, configMap("a", { data: { a: "1" } })),
    patch(`${configMapsIn}/a`, { metadata: { labels: { a: "b" } } }),
    patch(`${widgetsIn}/a`, { spec: { size: 3 } }),
    put(`${widgetsIn}/a/status`, widget("a", { spec: {}, status: { seen: 1 } })),
    bind("a"),
    get(podsIn),
    del(`${configMapsIn}/a`),
    get(configMapsIn),
    get(widgetsIn),
  ),
  leaving(
    "itself is read, listed and changed",
    get(home),
    get(`${all}?fieldSelector=metadata.name%3D<ns>,status.phase%3DTerminating`),
    get(`${all}?fieldSelector=metadata.name%3D<ns>,status.phase%3DActive`),
    patch(home, { metadata: { labels: { a: "b" } } }),
    patch(home, { metadata: { labels: { "kubernetes.io/metadata.name": null } } }),
    patch(home, { metadata: { finalizers: ["example.com/late"] } }),
    patch(home, { metadata: { deletionTimestamp: null } }),
    patch(home, { spec: { finalizers: [] } }),
    put(home, object("v1", "Namespace", "<ns>")),
    patch(`${home}/status`, { status: { phase: "Active" } }),
    post(all, object("v1", "Namespace", "<ns>")),
    del(home),
  ),
  leaving(
    "is watched",
    post(all, namespace()),
    watch(
      `${all}?watch=true&resourceVersion=<gone.metadata.resourceVersion>&fieldSelector=metadata.name%3D<id>`,
      "<id>",
    ),
  ),
  caseOf(
    "those that stay for ever",
    ...["default", "kube-system", "kube-public"].map((name) => del(`${all}/${name}`)),
  ),
];
