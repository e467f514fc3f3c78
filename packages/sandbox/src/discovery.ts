// What is served, in the documents that clients find it by.
import { omit } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { mediaRanges } from "./representation.ts";
import { apiVersionOf } from "./resource-type.ts";
import type { ResourceType } from "./resource-type.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const statusVerbs = ["get", "patch", "update"];

/** Versions as clients prefer them: stable before beta before alpha, newer first. */
function byPreference(a: string, b: string): number {
  const rank = (version: string): number[] => {
    const [, major = "-1", stage, minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    return [
      major === "-1" ? 0 : stage === "alpha" ? 1 : stage === "beta" ? 2 : 3,
      Number(major),
      Number(minor),
    ];
  };
  const [left, right] = [rank(a), rank(b)];
  const at = left.findIndex((one, i) => one !== right[i]);
  return at < 0 ? a.localeCompare(b) : (right[at] ?? 0) - (left[at] ?? 0);
}

const groupsOf = (types: readonly ResourceType[]): string[] => [...new Set(types.map(({ group }) => group))];
const versionsOf = (types: readonly ResourceType[], group: string): string[] =>
  [...new Set(types.filter((type) => type.group === group).map(({ version }) => version))].sort(byPreference);
const within = (types: readonly ResourceType[], group: string, version: string): ResourceType[] =>
  types.filter((type) => type.group === group && type.version === version);

/** `/api`. */
export const legacyVersions = (host: string): JsonObject => ({
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: host }],
});

/** `/apis/<group>`, or undefined for a group that is not served. */
export function groupDocument(types: readonly ResourceType[], group: string): JsonObject | undefined {
  const versions = versionsOf(types, group).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  const [preferredVersion] = versions;
  return preferredVersion && { kind: "APIGroup", apiVersion: "v1", name: group, versions, preferredVersion };
}

/** `/apis`. */
export const groupList = (types: readonly ResourceType[]): JsonObject => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: groupsOf(types)
    .filter((group) => group !== "")
    .map((group) => omit(groupDocument(types, group) ?? {}, "kind", "apiVersion")),
});

/** `/api/v1` and `/apis/<group>/<version>`, or undefined for a version that is not served. */
export function resourceList(
  types: readonly ResourceType[],
  group: string,
  version: string,
): JsonObject | undefined {
  const served = within(types, group, version);
  const [first] = served;
  if (!first) return undefined;
  const resources = served.flatMap(
    ({ resource: name, singular: singularName, namespaced, kind, shortNames, categories, status }) => {
      const more = {
        ...(shortNames.length > 0 ? { shortNames } : {}),
        ...(categories.length > 0 ? { categories } : {}),
      };
      const main: JsonObject = { name, singularName, namespaced, kind, verbs, ...more };
      return status
        ? [main, { name: `${name}/status`, singularName: "", namespaced, kind, verbs: statusVerbs }]
        : [main];
    },
  );
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(first), resources };
}

/** Whether a request for `/api` or `/apis` asks for everything at once (aggregated discovery, v2). */
export const wantsAggregated = (accept: string): boolean => {
  const first = mediaRanges(accept).find(
    ({ media, parameters }) =>
      media === "application/json" &&
      (parameters.get("as") === undefined ||
        (parameters.get("as") === "APIGroupDiscoveryList" && parameters.get("v") === "v2")),
  );
  return first?.parameters.get("as") === "APIGroupDiscoveryList";
};
export const aggregatedMedia = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** `/api` (the core group) or `/apis` (all others) as one document. */
export function aggregated(types: readonly ResourceType[], core: boolean): JsonObject {
  const items = groupsOf(types)
    .filter((group) => (group === "") === core)
    .map((group) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versionsOf(types, group).map((version) => ({
        version,
        freshness: "Current",
        resources: within(types, group, version).map((type) => aggregatedResource(type)),
      })),
    }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function aggregatedResource({
  group,
  version,
  kind,
  resource,
  singular,
  namespaced,
  shortNames,
  categories,
  status,
}: ResourceType): JsonObject {
  const responseKind = { group, version, kind };
  return {
    resource,
    responseKind,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(status ? { subresources: [{ subresource: "status", responseKind, verbs: statusVerbs }] } : {}),
  };
}

const groupVersionPath = (type: ResourceType): string =>
  type.group === "" ? `api/${type.version}` : `apis/${type.group}/${type.version}`;

/** `/openapi/v3`. */
export const openApiRoot = (types: readonly ResourceType[]): JsonObject => ({
  paths: Object.fromEntries(
    types.map((type) => [
      groupVersionPath(type),
      { serverRelativeURL: `/openapi/v3/${groupVersionPath(type)}` },
    ]),
  ),
});

/**
 * `/openapi/v3/<group version>`, with as much as `kubectl apply` reads: that patches take fieldValidation, so that it
 * leaves the validation to the server. No schemas, so `kubectl explain` has nothing to tell.
 */
export function openApiDocument(types: readonly ResourceType[], path: string): JsonObject | undefined {
  const served = types.filter((type) => groupVersionPath(type) === path);
  if (served.length === 0) return undefined;
  const parameters = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
    name,
    in: "query",
    schema: { type: "string" },
  }));
  const paths = served.map(({ group, version, kind, resource, namespaced }) => {
    const patch = {
      parameters,
      responses: {},
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group, version, kind },
    };
    return [`/${path}/${namespaced ? "namespaces/{namespace}/" : ""}${resource}/{name}`, { patch }] as const;
  });
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.36.0" },
    paths: Object.fromEntries(paths),
    components: {},
  };
}

/** `/version`: the release whose behaviour is followed. */
export const version: JsonObject = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.0-sandbox",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};
