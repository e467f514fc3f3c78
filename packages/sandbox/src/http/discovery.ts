// The documents of discovery: they list the served groups, versions and kinds.
import { omit } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { segmentsOf } from "./paths.ts";
import { apiVersionOf, rankOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";

type Types = readonly ResourceType[];

const verbs = ["delete", "get", "list", "patch", "create", "update", "watch"];
const verbsOf = ({ custom }: ResourceType): string[] => (custom ? verbs : verbs.toSorted());

const groupsOf = (types: Types): string[] =>
  [...new Set(types.map(({ group }) => group))].filter((group) => group !== "");

function groupDocument(types: Types, group: string): JsonObject | undefined {
  const names = new Set(types.filter((type) => type.group === group).map(({ version }) => version));
  const versions = [...names]
    .sort((a, b) => rankOf(b) - rankOf(a))
    .map((version) => ({ groupVersion: `${group}/${version}`, version }));
  const [preferredVersion] = versions;
  return preferredVersion && { kind: "APIGroup", apiVersion: "v1", name: group, versions, preferredVersion };
}

const groupList = (types: Types): JsonObject => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: groupsOf(types).map((group) => omit(groupDocument(types, group) ?? {}, "kind", "apiVersion")),
});

function resourceList(types: Types, group: string, version: string): JsonObject | undefined {
  const served = types.filter((type) => type.group === group && type.version === version);
  const resources = served.flatMap((type) => {
    const { resource, singular: singularName, namespaced, kind, shortNames, categories, status } = type;
    const main = {
      name: resource,
      singularName,
      namespaced,
      kind,
      verbs: verbsOf(type),
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    };
    const part = { singularName: "", namespaced, kind, verbs: ["get", "patch", "update"] };
    return [
      main,
      ...(type.bucket === "pods"
        ? [{ name: "pods/binding", ...part, kind: "Binding", verbs: ["create"] }]
        : []),
      ...(status ? [{ name: `${resource}/status`, ...part }] : []),
    ];
  });
  const builtIn = served.some(({ custom }) => !custom);
  return (
    served[0] && {
      kind: "APIResourceList",
      ...(group !== "" && { apiVersion: "v1" }),
      groupVersion: apiVersionOf(served[0]),
      resources: builtIn ? resources.sort((a, b) => (a.name < b.name ? -1 : 1)) : resources,
    }
  );
}

const pathOf = (type: ResourceType): string =>
  type.group === "" ? `api/${type.version}` : `apis/${type.group}/${type.version}`;

const openApiRoot = (types: Types): JsonObject => ({
  paths: Object.fromEntries(
    types.map((type) => [pathOf(type), { serverRelativeURL: `/openapi/v3/${pathOf(type)}` }]),
  ),
});

const info = { title: "Kubernetes", version: "v1.36.0" };

/**
 * The part that `kubectl apply` reads: patches take fieldValidation, so kubectl leaves the validation to the server.
 * It has no schemas, so `kubectl explain` prints nothing.
 */
function openApiDocument(types: Types, path: string): JsonObject | undefined {
  const served = types.filter((type) => pathOf(type) === path);
  const parameters = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
    name,
    in: "query",
    schema: { type: "string" },
  }));
  const paths = served.map(({ group, version, kind, resource, namespaced }) => {
    const patch = { parameters, responses: {}, "x-kubernetes-group-version-kind": { group, version, kind } };
    return [`/${path}/${namespaced ? "namespaces/{namespace}/" : ""}${resource}/{name}`, { patch }] as const;
  });
  return served[0] && { openapi: "3.0.0", info, paths: Object.fromEntries(paths), components: {} };
}

const otherPaths = [
  "/healthz",
  "/livez",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/",
  "/readyz",
  "/version",
];
const pathsOf = (types: Types): string[] => {
  const groups = groupsOf(types).map((group) => `/apis/${group}`);
  const versions = types.map((type) => `/${pathOf(type)}`);
  return [...new Set(["/api", "/apis", "/apis/", ...groups, ...versions, ...otherPaths])].sort();
};

const versionDocument = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: "v1.36.0+sandbox",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};

/** The document at a path; undefined if discovery has no such path. */
export function discoveryDocument(types: Types, path: string, host: string): JsonObject | undefined {
  const [root, first, second, ...rest] = segmentsOf(path);
  if (path === "/") return { paths: pathsOf(types) };
  if (path.startsWith("/apis//")) return undefined;
  if (root === "version" && first === undefined) return versionDocument;
  if (root === "openapi" && first === "v3")
    return second === undefined ? openApiRoot(types) : openApiDocument(types, [second, ...rest].join("/"));
  const addresses = [{ clientCIDR: "0.0.0.0/0", serverAddress: host }];
  if (root === "api" && first === undefined)
    return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: addresses };
  if (root === "api" && first !== undefined && second === undefined) return resourceList(types, "", first);
  if (root !== "apis" || rest.length > 0) return undefined;
  if (first === undefined) return groupList(types);
  return second === undefined ? groupDocument(types, first) : resourceList(types, first, second);
}
