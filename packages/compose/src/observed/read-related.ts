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
  resourceNameOf,
  selectorQuery,
} from "@drover/kube";
import { objectsByKey, pagesOf } from "./read-objects.ts";

/** Most related objects of a kind, of all its declarations together. */
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
  const byKind = new Map<string, RelatedObjects>();
  for (const related of watches.filter(isRelated)) {
    const ref = refOf(related.kind);
    const name = resourceNameOf(ref);
    const known = byKind.get(name) ?? openRelatedObjects();
    byKind.set(name, known);
    await readInto({ context, related, ref, to: refOf(kind), known }).catch((error: unknown) =>
      refused(ref, error),
    );
  }
  return [...byKind.values()].flatMap(({ all }) => [...all.values()]);
}

interface Reading<R extends Resource> {
  readonly context: ReconcileContext<R>;
  readonly related: RelatedKind;
  /** The related kind. */
  readonly ref: ResourceRef;
  /** The kind of the run's object. */
  readonly to: ResourceRef;
  /** The related objects of the kind that other declarations have found. */
  readonly known: RelatedObjects;
}

/** Reads the objects of one declaration. */
async function readInto<R extends Resource>(reading: Reading<R>): Promise<void> {
  const { names } = reading.related;
  const { object } = reading.context;
  if (typeof names === "function") return byName(reading, names(reading.context satisfies NamingObject));
  const { referencedBy, selectedBy, label } = names;
  if (referencedBy !== undefined) return byName(reading, valuesAt(object, parseFieldPath(referencedBy)));
  if (selectedBy !== undefined) {
    const selectors = valuesAt(object, parseFieldPath(selectedBy)).flatMap(
      (one) => labelSelectorIn(one) ?? [],
    );
    for (const selector of selectors)
      // The text of a label is not checked: it may mean something else in a query.
      await list(reading, selectorQuery(selector), ({ metadata }) =>
        matchesLabels(selector, metadata.labels),
      );
    return;
  }
  if (names.all === true) return list(reading);
  const { key } = reading.context;
  const { name } = splitObjectKey(key);
  if (label !== undefined && name.length > longestLabel) return;
  await list(reading, label === undefined ? undefined : `${label}=${name}`, (one) =>
    namedIn(reading, one).includes(key),
  );
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

async function byName<R extends Resource>(reading: Reading<R>, values: readonly unknown[]): Promise<void> {
  const { context, ref, related, known } = reading;
  const keys = keysNamedBy(context.metadata, values, ref, { acrossNamespaces: !ref.namespaced }).filter(
    (key) => {
      const { namespace } = splitObjectKey(key);
      return namespace === undefined || related.namespaces?.includes(namespace) !== false;
    },
  );
  for await (const objects of objectsByKey(context, ref, keys))
    known.add(objects.filter(isFollowed(related)));
}

async function list<R extends Resource>(
  { context, ref, related, known }: Reading<R>,
  labelSelector?: string,
  isMeant: (object: KubeObject) => boolean = () => true,
): Promise<void> {
  for (const namespace of namespacesOf(ref, context.metadata, related))
    for await (const page of pagesOf(context, ref, { namespace, labelSelector }))
      known.add(page.filter(isFollowed(related)).filter(isMeant));
}

/** Objects whose changes cause no runs are not given. */
function isFollowed({ labelSelector }: RelatedKind): (object: KubeObject) => boolean {
  if (labelSelector === undefined) return () => true;
  const selector = labelSelectorIn(labelSelector);
  if (selector === undefined)
    throw new TerminalError("The labelSelector of a related kind cannot be used: correct the function.", {
      reason: "InvalidResult",
    });
  return ({ metadata }) => matchesLabels(selector, metadata.labels);
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

type RelatedObjects = ReturnType<typeof openRelatedObjects>;

/**
 * The related objects of a kind that were found so far. Users choose how many and how large they are, so that reading ends
 * when there are too many: they would not fit into the memory of a process that runs many functions.
 */
function openRelatedObjects() {
  const all = new Map<string, KubeObject>();
  let bytes = 0;
  return {
    /** By uid: two declarations may find the same object. */
    all,
    /** @throws TerminalError `TooManyRelated` */
    add(more: readonly KubeObject[]): void {
      for (const object of more) {
        if (all.has(object.metadata.uid)) continue;
        all.set(object.metadata.uid, object);
        bytes += writeJson(object).length;
      }
      if (all.size <= maxRelated && bytes <= maxBytes) return;
      throw new TerminalError(
        `There are more related objects than the ${maxRelated}, with ${maxBytes / 2 ** 20} MiB in all, that are possible. ` +
          "Name fewer.",
        { reason: "TooManyRelated" },
      );
    },
  };
}

/** A kind that the API server does not serve has no objects. */
function refused({ kind }: ResourceRef, error: unknown): void {
  if (isApiError(error, "NotServed")) return;
  if (!isApiError(error, "Forbidden")) throw error;
  throw new RetryError(
    `Related objects of kind ${kind} cannot be read: ${error.message} Add the permission to the function, or leave out this kind of related objects.`,
    { reason: "RelatedForbidden", cause: error },
  );
}
