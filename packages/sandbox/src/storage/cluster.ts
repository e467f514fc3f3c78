import { randomInt } from "node:crypto";
import { typesOf } from "../definitions/custom-resources.ts";
import { builtInTypes } from "../kinds/built-in-types.ts";
import { conditionOf } from "../definitions/custom-resources.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import type { Store } from "./store.ts";

/** The bucket of definitions, which decide what else is served. */
export const definitionsBucket = "customresourcedefinitions.apiextensions.k8s.io";
export const namespacesBucket = "namespaces";

/** The state behind all requests. */
export interface Cluster {
  readonly store: Store;
  readonly now: () => Date;
  /** Where the addresses of Services begin. Sandboxes of one machine share its loopback, so each begins elsewhere. */
  readonly firstAddress: number;
  /** Everything served now: the built-in kinds and those of established definitions. */
  types(): readonly ResourceType[];
  typeOf(group: string, version: string, resource: string): ResourceType | undefined;
}

export function createCluster(store: Store, now: () => Date): Cluster {
  let types = builtInTypes;
  let byPath = new Map<string, ResourceType>();
  const serve = (): void => {
    const established = store
      .list(definitionsBucket)
      .objects.filter((one) => conditionOf(one, "Established") === "True");
    types = [...builtInTypes, ...established.flatMap(typesOf)];
    byPath = new Map(types.map((type) => [`${type.group}/${type.version}/${type.resource}`, type]));
  };
  serve();
  store.subscribe(definitionsBucket, serve);
  return {
    store,
    now,
    firstAddress: randomInt(2 ** 24),
    types: () => types,
    typeOf: (group, version, resource) => byPath.get(`${group}/${version}/${resource}`),
  };
}
