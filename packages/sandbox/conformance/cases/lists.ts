// Lists: valid and invalid selectors, pages, and all combinations of versions and their options.
import { configMap, configMapsIn, gadgetsAt, pod, podsIn, widget, widgetsIn } from "../fixtures.ts";
import { caseOf, del, get, named, object, patch, post } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const fill: readonly Step[] = [
  named(
    "first",
    post(configMapsIn, configMap("a", { data: { x: "1" } }, { labels: { app: "one", n: "1" } })),
  ),
  named("second", post(configMapsIn, configMap("b", {}, { labels: { app: "two", n: "10", "e.x/k": "v" } }))),
  named("third", post(configMapsIn, configMap("c", {}, { labels: { other: "" } }))),
  named("fourth", post(configMapsIn, configMap("d"))),
];
const widgets: readonly Step[] = [
  named("first", post(widgetsIn, widget("a", { spec: { size: 1 } }, { labels: { app: "one" } }))),
  named(
    "second",
    post(widgetsIn, widget("b", { spec: { size: 2, colour: "blue" } }, { labels: { app: "two" } })),
  ),
  named("third", post(widgetsIn, widget("c", {}))),
];

const labels = [
  ...`app | !app | app=one | app==one | app!=one | app in (one,two) | app in (one) | app notin (one)
  | app in () | app in (,) | app in (one,) | app= | app!= | app=one,n=1 | app=one,,n=1 | , | app=one,
  | =one | n>5 | n<5 | n>x | e.x/k=v | E.X/k=v | -a=b | app=a b | app=- | app in one | app in (one
  | in in (in) | notin | app ! one | !!app | ! app | app=one=two | (app) | app=ä | app exists
  | app=one n=1 | app in (one) , n`.split(/\s*\|\s*/),
  "x".repeat(64),
  " app = one ",
];
const fields = [
  ...`metadata.name=a | metadata.name==a | metadata.name!=a | metadata.namespace=<ns>
  | metadata.namespace=default | metadata.name=a,metadata.name=b | metadata.name | metadata.name= | =a
  | data.x=1 | metadata.labels.app=one | metadata.uid=1 | status.phase=x | , | metadata.name in (a)
  | name=a`.split(/\s*\|\s*/),
  "metadata.name=a\\,b",
  "metadata.name=a\\x",
];
const widgetFields = [
  "spec.colour=blue",
  "spec.size=1",
  "spec.size!=1",
  "spec.tags=a",
  "spec.colour=",
  ".spec.colour=red",
];
const podFields = [
  "spec.nodeName=",
  "spec.nodeName=n",
  "status.phase=Pending",
  "status.phase!=Pending",
  "spec.other=1",
];

const versions = [
  "",
  "0",
  "1",
  "<first.metadata.resourceVersion>",
  "<third.metadata.resourceVersion>",
  "99999999",
  "x",
  "-1",
  "01",
  "1.5",
  " 1",
];
const matches = ["", "Exact", "NotOlderThan", "Other"];
const limits = ["", "2"];
const versioned = versions
  .flatMap((version) => matches.flatMap((match) => limits.map((limit) => ({ version, match, limit }))))
  // Neither server compacts old versions; version 1 is before all objects on the real server only.
  .filter(({ version, match, limit }) => !(version === "1" && (match === "Exact" || limit !== "")));

const query = (parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${key}=${value.startsWith("<") ? value : encodeURIComponent(value)}`)
    .join("&");
const encoded = (value: string): string => encodeURIComponent(value).replaceAll("%3Cns%3E", "<ns>");

const odd = [
  ...`limit=-1 limit=x limit=1.5 limit=0 limit=9999999999999999999 continue=x continue=e30
  continue=&limit=1 timeoutSeconds=x timeoutSeconds=5 sendInitialEvents=true sendInitialEvents=x
  sendInitialEvents=false allowWatchBookmarks=true allowWatchBookmarks=x watch=false bogus=1
  limit=1&limit=2 resourceVersionMatch=Exact resourceVersionMatch=Exact&continue=x&limit=1
  continue=x&resourceVersion=5`.split(/\s+/),
];

const page = (path: string, more = ""): Step => get(`${path}?limit=1${more}`);
const pages = (path: string): Step[] => [
  named("one", page(path)),
  named("two", page(path, "&continue=<one.metadata.continue>")),
  del(`${path}/a`),
  del(`${path}/c`),
  named("three", page(path, "&continue=<two.metadata.continue>")),
  get(`${path}?continue=<one.metadata.continue>`),
  page(path, "&continue=<one.metadata.continue>&resourceVersion=0"),
  page(path, "&continue=<one.metadata.continue>&resourceVersion=<first.metadata.resourceVersion>"),
  page(path, "&continue=<one.metadata.continue>&resourceVersionMatch=Exact"),
  page(path, "&labelSelector=app&continue=<one.metadata.continue>"),
  page(path, "&labelSelector=app"),
  page(path, "&resourceVersion=0"),
];

export const lists: readonly Case[] = [
  ...labels.map((selector) =>
    caseOf(
      `labels ${JSON.stringify(selector.slice(0, 40))}`,
      ...fill,
      get(`${configMapsIn}?labelSelector=${encoded(selector)}`),
      get(`${widgetsIn}?labelSelector=${encoded(selector)}`),
    ),
  ),
  ...fields.map((selector) =>
    caseOf(
      `fields ${JSON.stringify(selector)}`,
      ...fill,
      get(`${configMapsIn}?fieldSelector=${encoded(selector)}`),
      get(`${widgetsIn}?fieldSelector=${encoded(selector)}`),
    ),
  ),
  ...widgetFields.map((selector) =>
    caseOf(
      `fields of Widgets ${selector}`,
      ...widgets,
      get(`${widgetsIn}?fieldSelector=${encoded(selector)}`),
    ),
  ),
  ...podFields.map((selector) =>
    caseOf(
      `fields of Pods ${selector}`,
      post(podsIn, pod("a")),
      post(podsIn, pod("b", { restartPolicy: "Never" })),
      get(`${podsIn}?fieldSelector=${encoded(selector)}`),
    ),
  ),
  ...versioned.map(({ version, match, limit }) =>
    caseOf(
      `version ${version || "(none)"}, match ${match || "(none)"}, limit ${limit || "(none)"}`,
      ...fill,
      get(configMapsIn),
      get(`${configMapsIn}?${query({ resourceVersion: version, resourceVersionMatch: match, limit })}`),
    ),
  ),
  ...versions
    .filter((version) => version !== "")
    .map((version) =>
      caseOf(
        `one object at version ${version}`,
        ...fill,
        get(configMapsIn),
        get(`${configMapsIn}/a?${query({ resourceVersion: version })}`),
        get(`${configMapsIn}/none?${query({ resourceVersion: version })}`),
        get(`${widgetsIn}/none?${query({ resourceVersion: version })}`),
      ),
    ),
  ...odd.map((one) =>
    caseOf(
      `with ${one}`,
      ...fill,
      get(configMapsIn),
      get(`${configMapsIn}?${one}`),
      get(`${configMapsIn}/a?${one}`),
    ),
  ),
  caseOf("pages of ConfigMaps", ...fill, ...pages(configMapsIn)),
  caseOf("pages of Widgets", ...widgets, ...pages(widgetsIn)),
  caseOf(
    "what is empty",
    get(configMapsIn),
    get(widgetsIn),
    get(`${configMapsIn}?limit=1`),
    get(`${widgetsIn}?limit=5`),
    get("/api/v1/namespaces/<id>-none/configmaps"),
    get("/apis/example.com/v1/namespaces/<id>-none/widgets"),
  ),
  caseOf(
    "over all namespaces",
    ...fill,
    ...widgets,
    get("/api/v1/configmaps?fieldSelector=metadata.namespace%3D<ns>"),
    get("/apis/example.com/v1/widgets?fieldSelector=metadata.namespace%3D<ns>"),
    get("/apis/example.com/v1beta1/namespaces/<ns>/widgets"),
    post("/api/v1/configmaps", configMap("x", {}, { namespace: "<ns>" })),
    post("/apis/example.com/v1/widgets", widget("x", undefined, { namespace: "<ns>" })),
    get("/api/v1/configmaps/a"),
    del("/api/v1/configmaps/a"),
    get("/apis/example.com/v1/widgets/a"),
  ),
  caseOf(
    "over all namespaces, in the order of their keys",
    ...["<id>", "<id>-b"].map((name) => post("/api/v1/namespaces", object("v1", "Namespace", name))),
    ...["<id>-b", "<id>"].flatMap((namespace) =>
      ["b", "a"].map((name) =>
        post(`/api/v1/namespaces/${namespace}/configmaps`, configMap(name, {}, { labels: { of: "<id>" } })),
      ),
    ),
    get("/api/v1/configmaps?labelSelector=of%3D<id>"),
    get("/api/v1/configmaps?labelSelector=of%3D<id>&limit=3"),
  ),
  caseOf(
    "as tables and as metadata",
    ...fill,
    ...widgets,
    patch(`${widgetsIn}/a/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } }),
    patch(`${widgetsIn}/b`, { spec: { tags: ["x", "y"] } }),
    ...["Table", "PartialObjectMetadataList", "PartialObjectMetadata"].flatMap((as) =>
      [
        configMapsIn,
        widgetsIn,
        `${widgetsIn}?limit=1`,
        `${widgetsIn}?includeObject=Object`,
        `${configMapsIn}?includeObject=None`,
        `${configMapsIn}?includeObject=x`,
        `${widgetsIn}/a`,
      ].map((path) => get(path, { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` })),
    ),
    get(configMapsIn, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1beta1" }),
    get(configMapsIn, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" }),
  ),
  caseOf(
    "of what is cluster-scoped",
    post(gadgetsAt, object("example.com/v1", "Gadget", "<id>", {}, { labels: { id: "<id>" } })),
    get(`${gadgetsAt}?labelSelector=id%3D<id>`),
    get(`${gadgetsAt}?fieldSelector=metadata.name%3D<id>`),
    get(`${gadgetsAt}?fieldSelector=metadata.namespace%3Dx`),
    get("/apis/example.com/v1/namespaces/<ns>/gadgets"),
    get("/apis/example.com/v1/namespaces/<ns>/gadgets/<id>"),
    get(`/api/v1/namespaces?fieldSelector=metadata.name%3D<ns>`),
    get(`/api/v1/namespaces?fieldSelector=status.phase%3DActive,metadata.name%3D<ns>`),
  ),
];
