// Paths, verbs and the documents of discovery.
import { configMap, configMapsIn, gadgetsAt, pod, podsIn, widget, widgetsIn } from "../fixtures.ts";
import { caseOf, del, get, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const one = (method: string, path: string): Step => ({ method, path });
const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const bodied = (method: string, path: string): Step =>
  ["POST", "PUT"].includes(method)
    ? { method, path, body: { apiVersion: "v1", kind: "ConfigMap" } }
    : { method, path };

/** The paths below a root, separated by white space. */
const under = (root: string, rests: string): string[] => rests.split(/\s+/).map((rest) => root + rest);

const wrong = [
  ...under(
    "/api/v1/namespaces/<ns>/",
    `status nothing nothing/x configmaps/a/status configmaps/a/nothing configmaps/a/b/c nodes nodes/n
    configmaps/ configmaps/a%20b configmaps/. ConfigMaps pods/a/nothing`,
  ),
  ...under(
    "/apis/example.com/v1/",
    `nothing namespaces/<ns>/nothing namespaces/<ns>/nothing/x namespaces/<ns>/widgets/a/status
    namespaces/<ns>/widgets/a/nothing gadgets/<id>/status widgets/a`,
  ),
  ...under(
    "",
    `/nothing /api/ /api/v2 /api/v1/nothing /api/v1/nothing/x /apis/none.example.com
    /apis/none.example.com/v1 /apis/example.com/v7 /apis/example.com/v7/widgets /apis/coordination.k8s.io/v9
    /apis/coordination.k8s.io/v1/nothing /apis/coordination.k8s.io/v9/leases /api/v1/namespaces/<ns>
    /api/v1/configmaps/a /api/v1//configmaps /api/v1/namespaces/Bad_Ns/configmaps
    /apis/apps/v1/namespaces/<ns>/configmaps /healthz /livez /readyz`,
  ),
];
/** Empty segments, and segments with necessary, unnecessary and invalid escapes. */
const odd = [
  ...under(
    "/api/v1/namespaces/<ns>/configmaps",
    `// //a /a/ /a// /%61 %2Fa /a%2Fb /%2F /a%2F /%20 /a+b /a%2Bb /a%3Fb /a%25b /a%2525b /%C3%BC /%FF /a%00b
    /a%0Ab /a%22b /%zz /a% /a%E2%82`,
  ),
  ...under(
    "/apis/example.com/v1/namespaces/<ns>/widgets",
    `// //a /a/ /a// /a//status /a/status/ /a/status/x /%61 /a%2Fstatus %2Fa /a%2Fb /a%20b /%FF /a%25b
    /a/status//`,
  ),
  ...under(
    "",
    `// //api //api/v1/namespaces/<ns>/configmaps/a /api//v1 /api//v1/namespaces/<ns>/configmaps/a /api/v1/
    /api/v1// /api/v1//namespaces /api/v1//namespaces/<ns>/configmaps/a /api/v1/namespaces//configmaps/a
    /api/v1/namespaces/<ns>/ /api/v1/namespaces/<ns>// /api/v1/namespaces/<ns>//configmaps
    /api/v1/namespaces/<ns>//configmaps/a /api/v1/namespaces/<ns>/pods/a//status
    /api/v1/namespaces/<ns>/pods/a/status/ /api// /apis/apps// /apis// /apis//v1 /apis/example.com//widgets
    /apis/example.com//namespaces/<ns>/widgets/a /apis//v1/namespaces/<ns>/widgets/a
    /apis//example.com/v1/namespaces/<ns>/widgets/a //apis/example.com/v1/namespaces/<ns>/widgets/a
    /apis/example.com/v1//namespaces/<ns>/widgets/a /apis/example.com/v1/namespaces//widgets/a
    /apis/example.com/v1/namespaces/<ns>//widgets/a /apis/example.com/v1/namespaces/<ns>/
    /apis/example.com/v1/namespaces/<ns>// /apis/apps/v1// /apis/apps//deployments
    /apis/apps/v1//namespaces/<ns>/deployments /apis/none.example.com//
    /%61pi/v1/namespaces/<ns>/configmaps/a /api%2Fv1/namespaces/<ns>/configmaps/a
    /api/v1/namespaces/<ns>/configm%61ps /api/v1/namespaces/a%20b/configmaps
    /apis/example.com/v1/namespaces/<ns>/widg%65ts /h%65althz /healthz/ /livez/ /healthz/nothing
    /api/v1/namespaces/<ns>/pods/a/status/x /version/ /versio%6E`,
  ),
];
const discovery = [
  "/api",
  "/apis/example.com",
  "/apis/example.com/v1",
  "/apis/example.com/v1beta1",
  "/apis/coordination.k8s.io",
  "/apis/apiextensions.k8s.io",
  "/apis/apiextensions.k8s.io/v1",
  "/apis/events.k8s.io",
  "/apis/events.k8s.io/v1",
  "/apis/rbac.authorization.k8s.io",
  "/api/v1",
  ...["apps", "coordination.k8s.io", "networking.k8s.io", "rbac.authorization.k8s.io"].map(
    (group) => `/apis/${group}/v1`,
  ),
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
  ...wrong.map((path) => caseOf(`nothing at ${path}`, get(path))),
  ...collectionsAndObjects.flatMap((path) =>
    verbs
      .filter(
        (verb) =>
          !(verb === "GET" && /v1\/(namespaces|gadgets|configmaps|widgets)$/.test(path)) &&
          !(verb === "DELETE" && /\/(configmaps|widgets|gadgets|namespaces)$/.test(path)) &&
          !(verb === "HEAD"),
      )
      .map((verb) =>
        caseOf(
          `${verb} ${path}`,
          post(configMapsIn, configMap("a")),
          post(widgetsIn, widget("a")),
          post(podsIn, pod("a")),
          bodied(verb, path),
        ),
      ),
  ),
  ...["POST", "PUT", "DELETE"].map((verb) =>
    caseOf(
      `${verb} where only documents are`,
      ...["/api", "/api/v1", "/version", "/healthz"].map((path) => one(verb, path)),
    ),
  ),
  ...odd.map((path) =>
    caseOf(
      `an odd path: ${path}`,
      post(configMapsIn, configMap("a")),
      post(widgetsIn, widget("a")),
      post(podsIn, pod("a")),
      ...["GET", "POST", "PUT", "PATCH"].map((verb) => bodied(verb, path)),
    ),
  ),
  caseOf(
    "kinds with namespaces, without one",
    ...["/api/v1", "/apis/example.com/v1"].flatMap((root) => {
      const plural = root === "/api/v1" ? "configmaps" : "widgets";
      const body = root === "/api/v1" ? configMap("a") : widget("a");
      const none = "?labelSelector=no%3Dsuch";
      return [
        ...[`${root}/${plural}`, `${root}/namespaces//${plural}`].flatMap((path) => [
          get(path + none),
          post(path, body),
          put(path, body),
        ]),
        get(`${root}/namespaces//${plural}/a`),
        put(`${root}/namespaces//${plural}/a`, body),
        patch(`${root}/namespaces//${plural}/a`, {}),
        del(`${root}/namespaces//${plural}/a`),
        patch(`${root}/namespaces//${plural}/a/status`, {}),
      ];
    }),
  ),
  ...["/", "/apis", "/apis/"].map((path) => caseOf(`all there is, at ${path}`, get(path))),
  ...discovery.map((path) => caseOf(`discovery at ${path}`, get(path))),
  caseOf(
    "a namespace that is not there",
    post("/api/v1/namespaces/<id>-none/configmaps", configMap("a")),
    post("/apis/example.com/v1/namespaces/<id>-none/widgets", widget("a")),
    post("/api/v1/namespaces/<id>-none/configmaps", configMap("A_")),
    get("/api/v1/namespaces/<id>-none/configmaps/a"),
  ),
];
