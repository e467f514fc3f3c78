import { type Api, inParallel, until } from "./api.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import type { PseudoRandom } from "@drover/random";
import type { Key } from "./numbered-kind.ts";
import { turn, widget, widgets, withStatus } from "./widgets.ts";

/** The Widgets that there are. */
export interface Population {
  readonly living: Set<Key>;
  /** Creating them took so long, ms. */
  readonly took: number;
  /** The number of the next one. */
  next: number;
}

const createsAtOnce = 64;

/** Creates so many Widgets, each with a status, and then gives the kind its status subresource. */
export async function populate({ api }: BenchCluster, count: number): Promise<Population> {
  const began = performance.now();
  await inParallel(count, createsAtOnce, (i) => create(api, widgets.keyOf(i)));
  const took = performance.now() - began;
  await api.send("PATCH", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${widgets.name}`, {
    type: "application/json-patch+json",
    content: withStatus,
  });
  await until(() => api.send("GET", `${widgets.pathOf(widgets.keyOf(0))}/status`));
  await untilStreamed(api, widgets.collection);
  return { living: new Set(Array.from({ length: count }, (_, i) => widgets.keyOf(i))), took, next: count };
}

/** The server refuses to stream a list until the kind is in its cache, which may take half a minute. */
export const untilStreamed = (api: Api, path: string): Promise<void> =>
  until(() => api.send("GET", `${path}?${oneStreamed}`));

const oneStreamed =
  "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" +
  "&fieldSelector=metadata.name%3Dnone&timeoutSeconds=1";

/** Different facts about different objects. */
export interface Changes {
  readonly changed: readonly Key[];
  readonly created: readonly Key[];
  readonly deleted: readonly Key[];
  /** Deleted, and created again under the same name. */
  readonly recreated: readonly Key[];
}

/** 37 facts: 10 objects changed, 9 created, 9 deleted, 9 recreated. */
export async function change37(
  { api }: BenchCluster,
  population: Population,
  random: PseudoRandom,
): Promise<Changes> {
  const picked = random.some([...population.living], 28);
  const changes = {
    changed: picked.slice(0, 10),
    deleted: picked.slice(10, 19),
    recreated: picked.slice(19, 28),
    created: Array.from({ length: 9 }, () => widgets.keyOf(population.next++)),
  };
  for (const key of changes.changed) await patch(api, key, random.below(1e9) + 1);
  for (const key of [...changes.deleted, ...changes.recreated]) await api.send("DELETE", widgets.pathOf(key));
  for (const key of [...changes.created, ...changes.recreated]) await create(api, key);
  for (const key of changes.deleted) population.living.delete(key);
  for (const key of changes.created) population.living.add(key);
  return changes;
}

const create = (api: Api, key: Key): Promise<string> =>
  api.send("POST", widgets.createPath(key), { type: "application/json", content: widget(key) });

/** A new generation. */
export const patch = (api: Api, key: Key, number: number): Promise<string> =>
  api.send("PATCH", widgets.pathOf(key), { type: "application/merge-patch+json", content: turn(number) });
export { create as createWidget };
