import { setTimeout as delay } from "node:timers/promises";
import { type Api, inParallel, RefusedError } from "./api.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import type { PseudoRandom } from "@drover/random";
import {
  collection,
  createPath,
  crdName,
  objectPath,
  turn,
  type WidgetKey,
  widget,
  widgetKey,
  withStatus,
} from "./widgets.ts";

/** The Widgets that there are. */
export interface Population {
  readonly living: Set<WidgetKey>;
  /** Creating them took so long, ms. */
  readonly took: number;
  /** The number of the next one. */
  next: number;
}

const createsAtOnce = 64;

/** Creates so many Widgets, each with a status, and then gives the kind its status subresource. */
export async function populate({ api }: BenchCluster, count: number): Promise<Population> {
  const began = performance.now();
  await inParallel(count, createsAtOnce, (i) => create(api, widgetKey(i)));
  const took = performance.now() - began;
  await api.send("PATCH", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`, {
    type: "application/json-patch+json",
    content: withStatus,
  });
  await unless(404, () => api.send("GET", `${objectPath(widgetKey(0))}/status`));
  await untilStreamed(api, collection);
  return { living: new Set(Array.from({ length: count }, (_, i) => widgetKey(i))), took, next: count };
}

/** The server refuses to stream a list until the kind is in its cache, which may take half a minute. */
export const untilStreamed = (api: Api, path: string): Promise<void> =>
  unless(429, () => api.send("GET", `${path}?${oneStreamed}`));

const oneStreamed =
  "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" +
  "&fieldSelector=metadata.name%3Dnone&timeoutSeconds=1";

/** Asks until it is refused no more. The API server replaces a kind's handlers after its definition has changed. */
async function unless(refusal: number, ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!(error instanceof RefusedError && error.status === refusal)) throw error;
      await delay(50);
    }
  }
}

/** Different facts about different objects. */
export interface Changes {
  readonly changed: readonly WidgetKey[];
  readonly created: readonly WidgetKey[];
  readonly deleted: readonly WidgetKey[];
  /** Deleted, and created again under the same name. */
  readonly recreated: readonly WidgetKey[];
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
    created: Array.from({ length: 9 }, () => widgetKey(population.next++)),
  };
  for (const key of changes.changed) await patch(api, key, random.below(1e9) + 1);
  for (const key of [...changes.deleted, ...changes.recreated]) await api.send("DELETE", objectPath(key));
  for (const key of [...changes.created, ...changes.recreated]) await create(api, key);
  for (const key of changes.deleted) population.living.delete(key);
  for (const key of changes.created) population.living.add(key);
  return changes;
}

const create = (api: Api, key: WidgetKey): Promise<string> =>
  api.send("POST", createPath(key), { type: "application/json", content: widget(key) });

/** A new generation. */
export const patch = (api: Api, key: WidgetKey, number: number): Promise<string> =>
  api.send("PATCH", objectPath(key), { type: "application/merge-patch+json", content: turn(number) });
export { create as createWidget };
