import type { FindOptions, ObjectCache, KubeClient } from "./client.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { matchesLabels, selectorQuery } from "../objects/label-selector.ts";
import { listPages } from "./list-all.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";

/** Answers from the run's cache if possible; otherwise lists the objects, and adds them to the cache. */
export async function findObjects(
  client: Pick<KubeClient, "list">,
  cache: ObjectCache | undefined,
  ref: ResourceRef,
  { namespace, selector, fields, metadataOnly = false, mappedToKey, madeByRuns, ...options }: FindOptions,
): Promise<readonly KubeObject[]> {
  const labelSelector = selector && selectorQuery(selector);
  const asked = { namespace, labelSelector, fieldSelector: fields?.selector, metadataOnly };
  const query = JSON.stringify(asked);
  const cached = cache?.find(ref, query, { mappedToKey, madeByRuns });
  if (cached !== undefined)
    return cached.filter((object) => isInQuery(object, { namespace, selector, fields }));
  const { resourceVersion, items } = await listPages(client, ref, { ...options, ...asked });
  // A list of metadata cannot answer the same query again.
  if (!metadataOnly) cache?.add(ref, query, { resourceVersion, items });
  return items;
}

const isInQuery = (
  object: KubeObject,
  { namespace, selector = {}, fields }: Pick<FindOptions, "namespace" | "selector" | "fields">,
): boolean =>
  (namespace === undefined || object.metadata.namespace === namespace) &&
  matchesLabels(selector, object.metadata.labels) &&
  fields?.holds(object) !== false;
