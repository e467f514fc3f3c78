import {
  type Controller,
  isRelated,
  keysNamedBy,
  type NamingObject,
  type ObjectKey,
  parseFieldPath,
  type ReconcileContext,
  type RelatedKind,
  type Resource,
  RetryError,
  splitObjectKey,
  TerminalError,
  valuesAt,
} from "@drover/controller";
import {
  isApiError,
  type KubeObject,
  labelSelectorIn,
  listAll,
  matchesLabels,
  refOf,
  type ResourceRef,
  selectorQuery,
} from "@drover/kube";

/** Most related objects of one object: more would not fit into a call. */
export const maxRelated = 500;

/** Maximum length of a label's value. */
const longestLabel = 63;

/** Most objects that are read at once for one run. */
const readsAtOnce = 10;

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
    const objects = await objectsOf(reading).catch((error: unknown) => refused(reading.ref, error));
    found.push(...objects.filter((object) => isFollowed(related, object)));
  }
  // Two declarations may find the same object.
  const distinct = new Map(found.map((object) => [object.metadata.uid, object]));
  if (distinct.size <= maxRelated) return [...distinct.values()];
  throw new TerminalError(
    `There are ${distinct.size} related objects; at most ${maxRelated} are possible. Name fewer.`,
    { reason: "TooManyRelated" },
  );
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
    const lists = selectors.map((selector) => listed(reading, selectorQuery(selector)));
    return (await Promise.all(lists)).flat();
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
  { context: { client, metadata, signal }, ref }: Reading<R>,
  values: readonly unknown[],
): Promise<readonly KubeObject[]> {
  const keys = keysNamedBy(metadata, values, ref, { acrossNamespaces: !ref.namespaced });
  const found: KubeObject[] = [];
  for (let i = 0; i < Math.min(keys.length, maxRelated + 1); i += readsAtOnce) {
    const some = keys.slice(i, i + readsAtOnce).map((key) => client.get(ref, key, { signal }));
    found.push(...(await Promise.all(some)).filter((object) => object !== undefined));
  }
  return found;
}

const listed = <R extends Resource>(
  { context: { client, metadata, signal }, ref }: Reading<R>,
  labelSelector?: string,
): Promise<readonly KubeObject[]> =>
  listAll(client, ref, { namespace: ref.namespaced ? metadata.namespace : undefined, labelSelector, signal });

/** True if changes of the object cause runs: only such objects are read. */
const isFollowed = ({ namespaces, labelSelector }: RelatedKind, { metadata }: KubeObject): boolean =>
  (namespaces === undefined || metadata.namespace === undefined || namespaces.includes(metadata.namespace)) &&
  matchesLabels(labelSelectorIn(labelSelector ?? {}) ?? {}, metadata.labels);

/** A kind that the API server does not serve has no objects. */
function refused({ kind }: ResourceRef, error: unknown): readonly KubeObject[] {
  if (isApiError(error, "NotServed")) return [];
  if (!isApiError(error, "Forbidden")) throw error;
  throw new RetryError(
    `Related objects of kind ${kind} cannot be read: ${error.message} Add the permission to the function, or leave out this kind of related objects.`,
    { reason: "RelatedForbidden", cause: error },
  );
}
