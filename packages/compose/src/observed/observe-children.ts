import {
  maxChildren,
  type OwnedKind,
  splitObjectKey,
  TerminalError,
  tryObjectKey,
  tryParseObjectKey,
} from "@drover/controller";
import { writeJson } from "@drover/json";
import {
  isApiError,
  isControlledBy,
  keyOf,
  type KubeObject,
  refOf,
  type ResourceRef,
  resourceNameOf,
  selectorQuery,
} from "@drover/kube";
import type { ApplyContext } from "../apply-child.ts";
import { childId, type ObservedChild } from "../child.ts";
import { ownerLabel } from "../marks.ts";
import { isChild, isElsewhere } from "../parent.ts";
import { objectsByKey, pagesOf, pageSize } from "./read-objects.ts";

/** The children of a parent that exist. */
export interface Observation {
  readonly children: ReadonlyMap<string, ObservedChild>;
  /** True if there is no child with this id. False also if that is not known. */
  readonly isGone: (id: string) => boolean;
  /** The owned kinds that the API server does not serve. */
  readonly notServed: readonly ResourceRef[];
}

/** Most objects that look like children: those that are declared, and as many that are no longer. */
const maxCount = 2 * maxChildren;
/** Most characters of these as JSON, of all kinds together: objects that exist have a status and managed fields, too. */
const maxSize = 16 * 2 ** 20;
/** The same for the objects of a kind in other namespaces, where others can make any number of them. */
const maxSizeElsewhere = 8 * 2 ** 20;

interface ObserveOptions {
  /** If true, they are read live, and only their metadata: then any number of them is possible. */
  readonly isLive?: boolean | undefined;
}

/**
 * Finds the children that this controller has made for the object, of all kinds that it owns. In a run that has cached
 * lists, this needs no request.
 *
 * @throws TerminalError `TooManyChildren`
 */
export async function observeChildren(
  context: ApplyContext,
  { isLive = false }: ObserveOptions = {},
): Promise<Observation> {
  const bound = openBound(context, maxSize);
  const kinds = await Promise.all(
    context.owns.map(async (owned) => {
      const ref = refOf(owned.kind);
      const reading = { context, ref, isLive, bound };
      const namespaces = namespacesOf(context, ref, owned);
      const found: ObservedChild[] = [];
      try {
        // One after the other: the run's cache takes the version of a kind's first list.
        for (const namespace of namespaces) {
          found.push(...(await childrenIn(reading, namespace)));
          if (context.takesOver !== undefined && !isLive)
            found.push(...(await unlabelledIn(reading, context.takesOver, namespace)));
          // Those that have lost their labels, too: once they are not recorded any more, nothing looks for them.
          found.push(...(await recordedChildren(reading, namespace, found)));
        }
      } catch (error) {
        // A kind whose CRD is missing has no objects. If one is declared, its apply reports that.
        if (!isApiError(error, "NotServed")) throw error;
        return { ref, found: [], prefixes: [] };
      }
      return { ref, found, prefixes: namespaces.map((namespace) => idPrefix(ref, namespace)) };
    }),
  );
  const children = new Map(kinds.flatMap(({ found }) => found).map((child) => [childId(child), child]));
  const prefixes = kinds.flatMap((kind) => kind.prefixes);
  return {
    children,
    isGone: (id) => !children.has(id) && prefixes.some((prefix) => id.startsWith(prefix)),
    notServed: kinds.filter((kind) => kind.prefixes.length === 0).map(({ ref }) => ref),
  };
}

/** The beginning of the ids of a kind's objects in a namespace; undefined: in all, or of a kind without namespaces. */
export const idPrefix = (ref: ResourceRef, namespace?: string): string =>
  namespace === undefined ? `${resourceNameOf(ref)}/` : `${resourceNameOf(ref)}/${namespace}/`;

interface Reading {
  readonly context: ApplyContext;
  readonly ref: ResourceRef;
  readonly isLive: boolean;
  /** Adds up the children of all kinds that are in the parent's namespace. */
  readonly bound: Bound;
}

async function childrenIn(
  reading: Reading,
  namespace: string | undefined,
): Promise<readonly ObservedChild[]> {
  const { context, ref, isLive } = reading;
  const { client, labels, metadata: parent, signal } = context;
  const selector = { matchLabels: labels };
  const isHere = parent.namespace === undefined || parent.namespace === namespace;
  const bound = isHere ? reading.bound : openBound(context, maxSizeElsewhere);
  try {
    if (!isLive) {
      const bounded = { limit: pageSize, onPage: (page: readonly KubeObject[]) => bound(ref, page), signal };
      const options = { namespace, selector, madeByRuns: true, ...bounded };
      return childrenAmong(reading, await client.find(ref, options));
    }
    const found: ObservedChild[] = [];
    const options = { namespace, labelSelector: selectorQuery(selector), metadataOnly: true };
    for await (const page of pagesOf(context, ref, options)) {
      if (!isHere) bound(ref, page);
      found.push(...childrenAmong(reading, page));
    }
    return found;
  } catch (error) {
    if (isHere || !(error instanceof TooManyChildrenError)) throw error;
    // Users can make any number of objects elsewhere that look like children: only recorded ones are read.
    const here = ref.namespaced && namespace === undefined ? await childrenIn(reading, parent.namespace) : [];
    return [...here, ...(await recordedChildren(reading, namespace))];
  }
}

/** The objects that the parent controls, that another program has made for it, and that are taken over. */
async function unlabelledIn(
  { context, ref, bound }: Reading,
  takesOver: NonNullable<ApplyContext["takesOver"]>,
  namespace: string | undefined,
): Promise<readonly ObservedChild[]> {
  const found: ObservedChild[] = [];
  for await (const page of pagesOf(context, ref, { namespace, labelSelector: `!${ownerLabel}` })) {
    const controlled = page.filter(
      (object) =>
        isControlledBy(object.metadata, context.metadata) &&
        !isElsewhere(context, object.metadata.namespace) &&
        takesOver(object),
    );
    bound(ref, controlled);
    found.push(...controlled.map((object) => ({ ref, key: keyOf(object), object })));
  }
  return found;
}

/** @param found those that need not be read. */
async function recordedChildren(
  reading: Reading,
  namespace: string | undefined,
  found: readonly ObservedChild[] = [],
): Promise<readonly ObservedChild[]> {
  const { context, ref } = reading;
  const known = new Set(found.map(({ key }) => key));
  const keys = [...context.recorded]
    .filter((id) => id.startsWith(idPrefix(ref, namespace)))
    .flatMap((id) => tryParseObjectKey(id.slice(idPrefix(ref).length)) ?? [])
    .filter((key) => !known.has(key) && (splitObjectKey(key).namespace !== undefined) === ref.namespaced)
    // Others may write any number of them into the record, or empty it.
    .slice(0, maxCount);
  const read: ObservedChild[] = [];
  const bound = openBound(context, maxSizeElsewhere);
  for await (const objects of objectsByKey(context, ref, keys)) {
    if (!reading.isLive) bound(ref, objects);
    read.push(...childrenAmong(reading, reading.isLive ? objects.map(metadataOf) : objects));
  }
  return read;
}

/** An object with a name that no key has was not declared. */
const childrenAmong = ({ context, ref }: Reading, objects: readonly KubeObject[]): readonly ObservedChild[] =>
  objects
    .flatMap((object) => {
      const key = tryObjectKey(object.metadata);
      return key === undefined ? [] : [{ ref, key, object }];
    })
    .filter((child) => isChild(context, child));

const metadataOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata,
});

/** @throws TerminalError `TooManyChildren` when these and all before are too many, or too large. */
type Bound = (ref: ResourceRef, objects: readonly KubeObject[]) => void;

/** Adds up the objects that are read, and their sizes. */
function openBound(context: ApplyContext, most: number): Bound {
  let count = 0;
  let size = 0;
  return (ref, objects) => {
    count += objects.length;
    for (const object of objects) size += writeJson(object).length;
    if (count > maxCount || size > most) throw new TooManyChildrenError(ref, context.labels, most);
  };
}

class TooManyChildrenError extends TerminalError {
  constructor(ref: ResourceRef, labels: ApplyContext["labels"], most: number) {
    const everywhere = ref.namespaced ? " -A" : "";
    super(
      `There are more children than ${maxCount}, or they have more than ${most / 2 ** 20} MiB; the last ones are of the kind ` +
        `${ref.kind}. Delete those that others have made or enlarged: kubectl get ${resourceNameOf(ref)}${everywhere} -l ${selectorQuery({ matchLabels: labels })}`,
      { reason: "TooManyChildren" },
    );
  }
}

/** The namespaces in which children of a kind may be; undefined: all, or none. */
function namespacesOf(
  { metadata: parent }: ApplyContext,
  { namespaced }: ResourceRef,
  { namespaces, acrossNamespaces = false }: OwnedKind,
): readonly (string | undefined)[] {
  if (!namespaced) return [undefined];
  if (parent.namespace !== undefined && !acrossNamespaces) return [parent.namespace];
  return namespaces ?? [undefined];
}
