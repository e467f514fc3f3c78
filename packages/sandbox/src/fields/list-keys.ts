// The lists of built-in kinds whose items have an identity, and the maps that have one manager: the extensions
// `x-kubernetes-list-type`, `-list-map-keys`, `-map-type` and `-patch-merge-key` of their OpenAPI documents. The name
// of a field decides, where necessary with that of the field that contains it.
import { field } from "../json.ts";
import type { Json } from "../json.ts";

const keyed: readonly (readonly [keys: string, lists: string])[] = [
  [
    "name",
    "containers initContainers ephemeralContainers volumes env secrets spec.imagePullSecrets resourceClaims schedulingGates resourceClaimStatuses",
  ],
  ["type", "addresses conditions"],
  ["ip", "hostAliases podIPs"],
  ["uid", "ownerReferences"],
  ["mountPath", "volumeMounts"],
  ["devicePath", "volumeDevices"],
  ["topologyKey whenUnsatisfiable", "topologySpreadConstraints"],
  ["containerPort protocol", "containers.ports initContainers.ports ephemeralContainers.ports"],
  ["port protocol", "spec.ports"],
];
const sets = ["metadata.finalizers", "spec.podCIDRs"];

const rows = keyed.flatMap(([keys, lists]) =>
  lists.split(" ").map((list) => ({ list, keys: keys.split(" ") })),
);
const keysByList: ReadonlyMap<string, readonly string[]> = new Map([
  ...rows.map(({ list, keys }): [string, string[]] => [list, keys]),
  ...sets.map((list): [string, string[]] => [list, []]),
]);

/** The keys of the items of a list; none if each item is its own key, undefined if the list has one manager. */
export const listKeysOf = (parent: string, list: string): readonly string[] | undefined =>
  keysByList.get(`${parent}.${list}`) ?? keysByList.get(list);

/** The fields that may identify the items of a list in a strategic merge patch. */
export const mergeKeysOf = (list: string): readonly string[] =>
  rows
    .filter((row) => row.list.split(".").at(-1) === list)
    .flatMap(({ keys }) => keys.slice(0, 1))
    .filter((key, i, all) => all.indexOf(key) === i);

/** The field that identifies the items of a list of a built-in kind; undefined if the list is replaced. */
export const mergeKeyOf = (list: string, items: readonly Json[]): string | undefined =>
  mergeKeysOf(list).find((key) => items.some((item) => field(item, key) !== undefined));

/** The one list of plain values that is a set in a strategic merge patch. */
export const isMergedSet = (list: string): boolean => list === "finalizers";

const atomicMaps = new Set(
  (
    "selector labelSelector namespaceSelector podSelector nodeSelector roleRef involvedObject regarding related " +
    "configMapKeyRef secretKeyRef fieldRef fileKeyRef resourceFieldRef secretRef nodePublishSecretRef dataSource " +
    "imagePullSecrets secrets ownerReferences requiredDuringSchedulingIgnoredDuringExecution"
  ).split(" "),
);
/** True if a map, or each item of a list, has one manager. */
export const isAtomicMap = (name: string): boolean => atomicMaps.has(name);
