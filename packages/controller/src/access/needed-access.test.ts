import { expect, it } from "vitest";
import { type Access, describeAccess } from "./access.ts";
import { neededAccess } from "./needed-access.ts";
import { ReconcileFunction } from "../function/reconcile-function.ts";

const kind = (plural: string, more: object = {}) => ({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  plural,
  scope: "Namespaced",
  ...more,
});
const verified = (verify: object) => ({ name: "h", verify, names: { field: "name" } });
const secretRef = { name: "s", key: "k" };
const needed = (spec: object): readonly string[] =>
  neededAccess(ReconcileFunction.spec.parse({ for: kind("cups"), ...spec }), "web").map((one: Access) =>
    describeAccess(one),
  );
const seen = (plural: string, where = "in all namespaces") =>
  ["list", "watch"].map((verb) => `${verb} ${plural} of example.com ${where}`);
const called = (where: string) => [
  ...["get", "patch"].map((verb) => `${verb} cups of example.com ${where}`),
  `update cups/status of example.com ${where}`,
  ...["create", "patch"].map((verb) => `${verb} events of events.k8s.io ${where}`),
];
/** The accesses that some API servers require for children that block the deletion of their parents. */
const blocking = ["a", "b"].map(
  (namespace) => `update cups/finalizers of example.com in namespace ${namespace}`,
);
const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
const container = { image: "cups:1" };
const inTwo = kind("cups", { namespaces: ["a", "b"] });
const seenInTwo = [...seen("cups", "in namespace a"), ...seen("cups", "in namespace b")];

it.each<[string, object, readonly string[]]>([
  ["follows its own kind", {}, seen("cups")],
  ["follows it in some namespaces", { for: inTwo }, seenInTwo],
  [
    "follows what it owns and watches",
    { owns: [kind("saucers")], watches: [kind("spoons", { names: { label: "l" } })] },
    [...seen("cups"), ...seen("saucers"), ...seen("spoons")],
  ],
  [
    "has permissions, and Pods that use them",
    { container, permissions: { namespace: [rule], cluster: [rule] } },
    [
      ...seen("cups"),
      "get pods in namespace web",
      "get pods in all namespaces",
      "create pods in namespace web",
    ],
  ],
  [
    "gives its account an identity elsewhere",
    { container: { ...container, serviceAccount: { annotations: { "example.com/role": "a" } } } },
    [
      ...seen("cups"),
      "create pods in namespace web",
      "create serviceaccounts in namespace web",
      "patch serviceaccounts in namespace web",
    ],
  ],
  ["has unused permissions", { permissions: { cluster: [rule] } }, seen("cups")],
  ["is called", { delivery: "webhook" }, [...seen("cups"), ...called("in all namespaces")]],
  [
    "is called for two namespaces",
    { delivery: "webhook", for: inTwo },
    [...seenInTwo, ...called("in namespace a"), ...called("in namespace b")],
  ],
  [
    "has the hooks of Metacontroller",
    {
      for: inTwo,
      owns: [kind("saucers")],
      watches: [kind("spoons", { related: true, names: { code: true } })],
      delivery: "webhook",
      webhook: { metacontroller: { controller: "Composite", sync: "/sync", customize: "/customize" } },
    },
    [
      ...seenInTwo,
      ...seen("saucers"),
      ...seen("spoons"),
      ...called("in namespace a"),
      ...called("in namespace b"),
      ...blocking,
      ...["a", "b"].flatMap((namespace) =>
        ["get", "list", "create", "patch", "delete"].map(
          (verb) => `${verb} saucers of example.com in namespace ${namespace}`,
        ),
      ),
      ...["a", "b"].flatMap((namespace) =>
        ["get", "list"].map((verb) => `${verb} spoons of example.com in namespace ${namespace}`),
      ),
    ],
  ],
  [
    "is called, and gets related objects",
    {
      for: inTwo,
      owns: [kind("saucers")],
      watches: [
        kind("spoons", { related: true, names: { referencedBy: "spec.spoon" } }),
        kind("forks", { related: true, names: { all: true }, namespaces: ["c"] }),
        kind("knives", { names: { all: true } }),
      ],
      delivery: "webhook",
      webhook: { composes: true },
    },
    [
      ...seenInTwo,
      ...seen("saucers"),
      ...seen("spoons"),
      ...seen("forks", "in namespace c"),
      ...seen("knives"),
      ...called("in namespace a"),
      ...called("in namespace b"),
      ...blocking,
      ...["a", "b"].flatMap((namespace) =>
        ["get", "list", "create", "patch", "delete"].map(
          (verb) => `${verb} saucers of example.com in namespace ${namespace}`,
        ),
      ),
      "get spoons of example.com in namespace a",
      "get spoons of example.com in namespace b",
      "list forks of example.com in namespace c",
    ],
  ],
  [
    "is called, and has children in all namespaces",
    {
      for: inTwo,
      owns: [kind("saucers", { acrossNamespaces: true })],
      delivery: "webhook",
      webhook: { composes: true },
    },
    [
      ...seenInTwo,
      ...seen("saucers"),
      ...called("in namespace a"),
      ...called("in namespace b"),
      ...blocking,
      ...["get", "list", "create", "patch", "delete"].map(
        (verb) => `${verb} saucers of example.com in all namespaces`,
      ),
    ],
  ],
  ...(["standardWebhooks", "hmac", "bearer"] as const).map((scheme): [string, object, readonly string[]] => [
    `accepts events that are verified by ${scheme}`,
    { hooks: [verified({ [scheme]: { secretRef, ...(scheme === "hmac" && { header: "X-Signature" }) } })] },
    [...seen("cups"), "get secrets named s in namespace web"],
  ]),
])("the author of a function that %s needs exactly these accesses", (_what, spec, access) => {
  expect(needed(spec)).toEqual(access);
});
