import {
  type Controller,
  isRelated,
  keysNamedBy,
  type NamingObject,
  type ObjectKey,
  type ObjectMetadata,
  parseFieldPath,
  type ReconcileContext,
  type RelatedKind,
  type Resource,
  RetryError,
  splitObjectKey,
  TerminalError,
  valuesAt,
} from "@drover/controller";
import { writeJson } from "@drover/json";
import {
  isApiError,
  type KubeObject,
  labelSelectorIn,
  matchesLabels,
  refOf,
  type ResourceRef,
  selectorQuery,
} from "@drover/kube";
import { objectsByKey, pagesOf } from "./read-objects.ts";

/** Most related objects of a kind. */
const maxRelated = 500;
/** Most bytes of these: more would not fit into a call. */
const maxBytes = 2 * 2 ** 20;
/** Maximum length of a label's value. */
const longestLabel = 63;

/**
 * Reads the related objects of a run's object, live: a copy could be older than the change that has caused the run, and
 * Secrets are never copied. An object gets objects of its own namespace only; a cluster-scoped one may name any.
 *
 * @throws RetryError `RelatedForbidden` if the function lacks the permission to read them.
 * @throws TerminalError `TooManyRelated`
 */
export async function readRelated<R extends Resource>(
  context: ReconcileContext<R>,
  { for: kind, watches }: Pick<Controller<R>, "for" | "watches">,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const related of watches.filter(isRelated)) {
    const reading = { context, related, ref: refOf(related.kind), to: refOf(kind) };
    found.push(...(await objectsOf(reading).catch((error: unknown) => refused(reading.ref, error))));
  }
  // Two declarations may find the same object.
  return [...new Map(found.map((object) => [object.metadata.uid, object])).values()];
}

interface Reading<R extends Resource> {
  readonly context: ReconcileContext<R>;
  readonly related: RelatedKind;
  /** The related kind. */
  readonly ref: ResourceRef;
  /** The kind of the run's object. */
  readonly to: ResourceRef;
}

async function objectsOf<R extends Resource>(reading: Reading<R>): Promise<readonly KubeObject[]> {
  const { names } = reading.related;
  const { object } = reading.context;
  if (typeof names === "function") return byName(reading, names(reading.context satisfies NamingObject));
  const { referencedBy, selectedBy, label } = names;
  if (referencedBy !== undefined) return byName(reading, valuesAt(object, parseFieldPath(referencedBy)));
  if (selectedBy !== undefined) {
    const selectors = valuesAt(object, parseFieldPath(selectedBy)).flatMap(
      (one) => labelSelectorIn(one) ?? [],
    );
    const found: KubeObject[] = [];
    for (const selector of selectors) {
      const objects = await listed(reading, selectorQuery(selector));
      // The text of a label is not checked: it may mean something else in a query.
      found.push(...objects.filter(({ metadata }) => matchesLabels(selector, metadata.labels)));
    }
    return found;
  }
  if (names.all === true) return listed(reading);
  const { key } = reading.context;
  const { name } = splitObjectKey(key);
  if (label !== undefined && name.length > longestLabel) return [];
  const all = await listed(reading, label === undefined ? undefined : `${label}=${name}`);
  return all.filter((one) => namedIn(reading, one).includes(key));
}

/** The keys that a related object names, by its label, its annotation or a field. */
function namedIn<R extends Resource>(
  { related: { names }, to }: Reading<R>,
  related: KubeObject,
): readonly ObjectKey[] {
  if (typeof names === "function") return [];
  const { label = "", annotation = "", field, acrossNamespaces } = names;
  const { metadata } = related;
  const values =
    field === undefined
      ? [metadata.labels?.[label], metadata.annotations?.[annotation]]
      : valuesAt(related, parseFieldPath(field));
  return keysNamedBy(metadata, values, to, { acrossNamespaces });
}

async function byName<R extends Resource>(
  { context, ref, related }: Reading<R>,
  values: readonly unknown[],
): Promise<readonly KubeObject[]> {
  const keys = keysNamedBy(context.metadata, values, ref, { acrossNamespaces: !ref.namespaced }).filter(
    (key) => {
      const { namespace } = splitObjectKey(key);
      return namespace === undefined || related.namespaces?.includes(namespace) !== false;
    },
  );
  const found = openFound(related);
  for await (const objects of objectsByKey(context, ref, keys)) found.add(objects);
  return found.objects;
}

async function listed<R extends Resource>(
  { context, ref, related }: Reading<R>,
  labelSelector?: string,
): Promise<readonly KubeObject[]> {
  const found = openFound(related);
  for (const namespace of namespacesOf(ref, context.metadata, related)) {
    for await (const page of pagesOf(context, ref, { namespace, labelSelector })) found.add(page);
  }
  return found.objects;
}

/** The namespaces to list; undefined: all, or none. */
function namespacesOf(
  { namespaced }: ResourceRef,
  { namespace }: ObjectMetadata,
  { namespaces }: RelatedKind,
): readonly (string | undefined)[] {
  if (!namespaced) return [undefined];
  if (namespace === undefined) return namespaces ?? [undefined];
  return namespaces?.includes(namespace) === false ? [] : [namespace];
}

/**
 * Objects that were found so far, and whose changes cause runs: others are not given. Users choose how many and how large they are, so that reading ends when there are too
 * many: they would not fit into the memory of a process that runs many functions.
 */
function openFound({ labelSelector }: RelatedKind) {
  const selector = labelSelectorIn(labelSelector ?? {}) ?? {};
  const objects: KubeObject[] = [];
  let bytes = 0;
  return {
    objects,
    /** @throws TerminalError `TooManyRelated` */
    add(more: readonly KubeObject[]): void {
      const followed = more.filter(({ metadata }) => matchesLabels(selector, metadata.labels));
      objects.push(...followed);
      for (const object of followed) bytes += writeJson(object).length;
      if (objects.length <= maxRelated && bytes <= maxBytes) return;
      throw new TerminalError(
        `There are more related objects than the ${maxRelated}, with ${maxBytes / 2 ** 20} MiB in all, that are possible. ` +
          "Name fewer.",
        { reason: "TooManyRelated" },
      );
    },
  };
}

/** A kind that the API server does not serve has no objects. */
function refused({ kind }: ResourceRef, error: unknown): readonly KubeObject[] {
  if (isApiError(error, "NotServed")) return [];
  if (!isApiError(error, "Forbidden")) throw error;
  throw new RetryError(
    `Related objects of kind ${kind} cannot be read: ${error.message} Add the permission to the function, or leave out this kind of related objects.`,
    { reason: "RelatedForbidden", cause: error },
  );
}
