import { randomInt } from "node:crypto";
import { typesOf } from "../definitions/custom-resources.ts";
import { builtInTypes } from "../kinds/built-in-types.ts";
import { conditionOf } from "../definitions/custom-resources.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import type { Store } from "./store.ts";

/** The bucket of definitions, which add to the served kinds. */
export const definitionsBucket = "customresourcedefinitions.apiextensions.k8s.io";
export const namespacesBucket = "namespaces";

/** The state behind all requests. */
export interface Cluster {
  readonly store: Store;
  readonly now: () => Date;
  /** The first address for Services. Sandboxes of one machine share its loopback, so each has another one. */
  readonly firstAddress: number;
  /** The served types: the built-in kinds and those of established definitions. */
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
