// Deletion policies. Neither server has a garbage collector: finalizers show its work.
import type { JsonObject } from "../../src/json.ts";
import { bind, configMap, configMapsIn, pod, podsIn } from "../fixtures.ts";
import { gadgets, mapsAndWidgets, type Place } from "../places.ts";
import { caseOf, del, deleteOptions as options, get, object, patch, post, put, watch } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const policy = (propagationPolicy: string, more: JsonObject = {}): JsonObject =>
  options({ propagationPolicy, ...more });

const places: readonly Place[] = [
  ...mapsAndWidgets,
  gadgets,
  { kind: "Pod", path: podsIn, of: (name, metadata) => pod(name, {}, metadata) },
  {
    kind: "Namespace",
    path: "/api/v1/namespaces",
    of: (name, metadata) => object("v1", "Namespace", name, {}, metadata),
  },
];

const bodies: readonly JsonObject[] = [
  policy("Foreground"),
  policy("Orphan"),
  policy("Orphan", { gracePeriodSeconds: 0 }),
  policy("Foreground", { dryRun: ["All"] }),
  policy("Foreground", { preconditions: { resourceVersion: "1" } }),
];

/** The first and the second policy; a third deletion has none. */
const again: readonly (readonly [string, string])[] = [
  ["Foreground", "Orphan"],
  ["Foreground", "Background"],
  ["Foreground", "Foreground"],
  ["Orphan", "Foreground"],
  ["Orphan", "Background"],
  ["Orphan", "Orphan"],
];

/** Finalizers before the deletion, in every order that matters. */
const before: readonly (readonly string[])[] = [
  ["orphan"],
  ["foregroundDeletion"],
  ["orphan", "foregroundDeletion"],
  ["example.com/a", "orphan", "example.com/b"],
  ["foregroundDeletion", "example.com/a"],
  ["example.com/a"],
];

/** True if the real server keeps no order: a deletion shuffles the finalizers of a Namespace. */
const unordered = ({ kind }: Place, finalizers: readonly string[]): boolean =>
  kind === "Namespace" && finalizers.some((one) => one.includes("/"));

const afterOne = (place: Place): Case[] => {
  const { kind, path, of } = place;
  const at = `${path}/<id>`;
  return [
    ...bodies.map((body) =>
      caseOf(
        `a ${kind} with ${JSON.stringify(body).slice(43)}`,
        post(path, of("<id>")),
        del(at, body),
        get(at),
        del(at),
        get(at),
      ),
    ),
    ...again.map(([first, then]) =>
      caseOf(
        `a ${kind} with ${first}, then ${then}`,
        post(path, of("<id>")),
        del(at, policy(first)),
        del(at, policy(then)),
        get(at),
        del(at),
        get(at),
      ),
    ),
    ...before
      .filter((finalizers) => !unordered(place, finalizers))
      .flatMap((finalizers) =>
        ["", "Foreground", "Orphan", "Background"].map((asked) =>
          caseOf(
            `a ${kind} held by ${finalizers.join(", ")}, deleted with ${asked || "nothing"}`,
            post(path, of("<id>", { finalizers })),
            del(at, asked === "" ? {} : policy(asked)),
            get(at),
          ),
        ),
      ),
  ];
};

/** Changes of an object that waits for a garbage collector. */
const whileWaiting = ({ kind, path, of }: Place): Case[] => {
  const at = `${path}/<id>`;
  const release = (named: string): Step => patch(at, { metadata: { finalizers: [named] } });
  return [
    ...["orphan", "foregroundDeletion"].map((finalizer) =>
      caseOf(
        `a ${kind} that loses ${finalizer}`,
        post(path, kind === "Namespace" ? of("<id>") : of("<id>", { finalizers: ["example.com/a"] })),
        del(at, policy(finalizer === "orphan" ? "Orphan" : "Foreground")),
        release("example.com/b"),
        patch(at, { metadata: { finalizers: ["example.com/a", "orphan", "foregroundDeletion"] } }),
        release(finalizer),
        get(at),
        patch(at, [{ op: "remove", path: "/metadata/finalizers/0" }], "json-patch"),
        get(at),
      ),
    ),
    caseOf(
      `a ${kind}, and a status while it waits`,
      post(path, of("<id>")),
      del(at, policy("Foreground")),
      put(`${at}/status`, of("<id>")),
      patch(at, { metadata: { labels: { a: "b" } } }),
      post(path, of("<id>")),
      patch(at, { metadata: { finalizers: null } }),
      get(at),
    ),
  ];
};

const owned = (name: string, blockOwnerDeletion: boolean): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name,
  uid: `<${name}.metadata.uid>`,
  blockOwnerDeletion,
});

export const policies: readonly Case[] = [
  ...places.flatMap(afterOne),
  ...places.flatMap(whileWaiting),
  ...["Foreground", "Orphan", "Background"].map((asked) =>
    caseOf(
      `an owner with ${asked}: what it owns stays as it is`,
      { ...post(configMapsIn, configMap("owner")), as: "owner" },
      post(configMapsIn, configMap("blocks", {}, { ownerReferences: [owned("owner", true)] })),
      post(configMapsIn, configMap("free", {}, { ownerReferences: [owned("owner", false)] })),
      del(`${configMapsIn}/owner`, policy(asked)),
      get(configMapsIn),
      patch(`${configMapsIn}/owner`, { metadata: { finalizers: [] } }),
      get(configMapsIn),
    ),
  ),
  ...["Foreground", "Orphan"].map((asked) =>
    caseOf(
      `a watch of ${asked}`,
      { ...post(configMapsIn, configMap("a")), as: "made" },
      del(`${configMapsIn}/a`, policy(asked)),
      del(`${configMapsIn}/a`, policy("Background")),
      post(configMapsIn, configMap("last")),
      watch(`${configMapsIn}?watch=true&resourceVersion=<made.metadata.resourceVersion>`, "last"),
    ),
  ),
  caseOf(
    "a pod on a node",
    ...["Foreground", "Orphan"].flatMap((asked) => {
      const name = asked.toLowerCase();
      return [
        post(podsIn, pod(name)),
        bind(name),
        get(podsIn),
        del(`${podsIn}/${name}`, policy(asked)),
        del(`${podsIn}/${name}`, policy("Background")),
        del(`${podsIn}/${name}`, policy("Orphan", { gracePeriodSeconds: 3 })),
        del(`${podsIn}/${name}`, options({ gracePeriodSeconds: 0 })),
        del(`${podsIn}/${name}`, policy("Background", { gracePeriodSeconds: 0 })),
        get(`${podsIn}/${name}`),
      ];
    }),
  ),
];
