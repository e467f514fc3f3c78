// Paths, verbs and the documents of discovery.
import { configMap, configMapsIn, gadgetsAt, pod, podsIn, widget, widgetsIn } from "../fixtures.ts";
import { get, post } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const one = (method: string, path: string): Step => ({ method, path });
const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const bodied = (method: string, path: string): Step =>
  ["POST", "PUT"].includes(method)
    ? { method, path, body: { apiVersion: "v1", kind: "ConfigMap" } }
    : { method, path };

const wrong = [
  "/nothing",
  "/api/",
  "/api/v2",
  "/api/v1/nothing",
  "/api/v1/nothing/x",
  "/apis/none.example.com",
  "/apis/none.example.com/v1",
  "/apis/example.com/v7",
  "/apis/example.com/v7/widgets",
  "/apis/example.com/v1/nothing",
  "/apis/example.com/v1/namespaces/<ns>/nothing",
  "/apis/example.com/v1/namespaces/<ns>/nothing/x",
  "/apis/coordination.k8s.io/v9",
  "/apis/coordination.k8s.io/v1/nothing",
  "/apis/coordination.k8s.io/v9/leases",
  "/api/v1/namespaces/<ns>",
  "/api/v1/namespaces/<ns>/status",
  "/api/v1/namespaces/<ns>/nothing",
  "/api/v1/namespaces/<ns>/nothing/x",
  "/api/v1/namespaces/<ns>/configmaps/a/status",
  "/api/v1/namespaces/<ns>/configmaps/a/nothing",
  "/api/v1/namespaces/<ns>/configmaps/a/b/c",
  "/api/v1/namespaces/<ns>/nodes",
  "/api/v1/namespaces/<ns>/nodes/n",
  "/api/v1/configmaps/a",
  "/api/v1//configmaps",
  "/api/v1/namespaces/<ns>/configmaps/",
  "/api/v1/namespaces/<ns>/configmaps/a%20b",
  "/api/v1/namespaces/<ns>/configmaps/.",
  "/api/v1/namespaces/Bad_Ns/configmaps",
  "/apis/example.com/v1/namespaces/<ns>/widgets/a/status",
  "/apis/example.com/v1/namespaces/<ns>/widgets/a/scale",
  "/apis/example.com/v1/namespaces/<ns>/widgets/a/nothing",
  "/apis/example.com/v1/gadgets/<id>/status",
  "/apis/example.com/v1/widgets/a",
  "/api/v1/namespaces/<ns>/ConfigMaps",
  "/api/v1/namespaces/<ns>/pods/a/nothing",
  "/apis/apps/v1/namespaces/<ns>/configmaps",
  "/healthz",
  "/livez",
  "/readyz",
];
const discovery = [
  "/api",
  "/apis/example.com",
  "/apis/example.com/v1beta1",
  "/apis/coordination.k8s.io",
  "/apis/apiextensions.k8s.io",
  "/apis/apiextensions.k8s.io/v1",
  "/apis/events.k8s.io",
  "/apis/events.k8s.io/v1",
  "/apis/rbac.authorization.k8s.io",
  "/apis/apps",
];

const collectionsAndObjects = [
  configMapsIn,
  `${configMapsIn}/a`,
  `${configMapsIn}/none`,
  widgetsIn,
  `${widgetsIn}/a`,
  `${widgetsIn}/a/status`,
  gadgetsAt,
  `${podsIn}/a/binding`,
  `${podsIn}/a/status`,
  "/api/v1/configmaps",
  "/apis/example.com/v1/widgets",
  "/api/v1/namespaces",
];

export const paths: readonly Case[] = [
  ...wrong.map((path) => ({ name: `nothing at ${path}`, steps: [get(path)] })),
  ...collectionsAndObjects.flatMap((path) =>
    verbs
      .filter(
        (verb) =>
          !(verb === "GET" && /v1\/(namespaces|gadgets|configmaps|widgets)$/.test(path)) &&
          !(verb === "DELETE" && /v1\/(configmaps|widgets|gadgets)$/.test(path)) &&
          !(verb === "HEAD"),
      )
      .map((verb) => ({
        name: `${verb} ${path}`,
        steps: [
          post(configMapsIn, configMap("a")),
          post(widgetsIn, widget("a")),
          post(podsIn, pod("a")),
          bodied(verb, path),
        ],
      })),
  ),
  ...["POST", "PUT", "DELETE"].map((verb) => ({
    name: `${verb} where only documents are`,
    steps: ["/api", "/api/v1", "/apis/example.com", "/version", "/healthz"].map((path) => one(verb, path)),
  })),
  ...discovery.map((path) => ({ name: `discovery at ${path}`, steps: [get(path)] })),
  {
    name: "a namespace that is not there",
    steps: [
      post("/api/v1/namespaces/<id>-none/configmaps", configMap("a")),
      post("/apis/example.com/v1/namespaces/<id>-none/widgets", widget("a")),
      post("/api/v1/namespaces/<id>-none/configmaps", configMap("A_")),
      get("/api/v1/namespaces/<id>-none/configmaps/a"),
    ],
  },
];
