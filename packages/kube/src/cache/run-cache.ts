import { parseJson } from "@drover/json";
import { z } from "zod";
import type { ObjectCache, WriteOutcome } from "../client/client.ts";
import {
  isSecret,
  keyOf,
  type KubeObject,
  type ResourceVersion,
  versionOrder,
} from "../objects/kube-object.ts";
import { objectText } from "./cached-object.ts";
import { deltaBeginning, deltaSchema, type ObjectDelta } from "./object-delta.ts";
import { objectFrom } from "../client/reply.ts";
import { resourceNameOf, type ResourceRef } from "../objects/resource-ref.ts";

/** Most characters of the objects that a run leaves. If there are more, the next run lists them. */
const maxCacheLength = 65_536;

/** Most characters of the beginnings of changes: the queue compares each change with them. */
const maxSeenLength = 8_192;

/** The cached objects of one kind: the answers to the run's queries, with all later changes and writes applied. */
interface CachedKind {
  readonly queries: Set<string>;
  /**
   * Version of the first list. Within the queries made, an object that is absent here did not exist at this version.
   */
  readonly listedAt: ResourceVersion;
  /** The newest version among the changes that were applied since. */
  toldUpTo: ResourceVersion;
  readonly objects: Map<string, KubeObject>;
}

const savedSchema = z.record(
  z.string(),
  z.object({
    queries: z.array(z.string()),
    listedAt: z.string(),
    toldUpTo: z.string(),
    objects: z.array(z.unknown()),
  }),
);

/** The cached data that a run received when it began. */
export interface ReceivedCache {
  /** The lists that the previous run stored, and the changes (`deltas`) since that run began, in any order. */
  readonly cachedLists?: { readonly stored: string; readonly deltas: readonly string[] } | undefined;
  /**
   * By kind: the highest version that a wake or a run of the key has named. None: the kind has never affected the key.
   */
  readonly versions: Readonly<Record<string, ResourceVersion>>;
  /** True if no run of the object has begun before. */
  readonly isFirst?: true | undefined;
}

/** The cached objects of a run, some of which it leaves to the next run. */
export interface RunCache extends ObjectCache {
  /** Called before each write of the run; undefined for a kind that is not cached. See `WriteGuard.observeWrite`. */
  readonly observeWrite: (ref: ResourceRef) => ((outcome: WriteOutcome) => void) | undefined;
  /** The cache as text, for the next run; undefined if it is empty, uncertain, or too large. */
  text(): string | undefined;
  /** The run has acted on all objects in the cache, also on those that it has written. */
  noteAllSeen(): void;
  /** The beginnings of the changes (`deltas`) that the run has acted on; none if they are too many. */
  seen(): readonly string[];
}

/** Opens a run's cache for these kinds. If a kind becomes uncertain, it is dropped from the cache, and listed live. */
export function openRunCache(
  refs: readonly ResourceRef[],
  { cachedLists, versions, isFirst }: ReceivedCache,
): RunCache {
  const kinds = new Map<string, CachedKind>();
  const dropped = new Set<string>();
  /** Kinds of objects that the run wrote before it looked for any. */
  const written = new Set<string>();
  let pendingWrites = 0;
  let areAllSeen = false;
  const byName = new Map(refs.map((ref) => [resourceNameOf(ref), ref]));
  const drop = (name: string): void => {
    kinds.delete(name);
    dropped.add(name);
  };
  if (cachedLists !== undefined)
    for (const [name, kind] of restored(byName, cachedLists)) kinds.set(name, kind);
  return {
    find(ref, query, { mappedToKey, madeByRuns }) {
      const name = resourceNameOf(ref);
      if (pendingWrites > 0) return undefined;
      const isUnseen = byName.has(name) && !dropped.has(name) && versions[name] === undefined;
      const isEmpty = isUnseen && !written.has(name) && madeByRuns === true && isFirst === true;
      const kind = kinds.get(name) ?? (isEmpty ? emptyKind(beforeAll) : undefined);
      if (kind === undefined) return undefined;
      kinds.set(name, kind);
      if (isEmpty || (isUnseen && mappedToKey === true)) kind.queries.add(query);
      return kind.queries.has(query) ? [...kind.objects.values()] : undefined;
    },
    add(ref, query, { resourceVersion, items }) {
      const name = resourceNameOf(ref);
      if (!byName.has(name) || dropped.has(name)) return;
      const before = kinds.get(name);
      // Before any list, a kind that was taken as empty would have changes that are older than this one.
      const isUnlisted = before === undefined || (before.listedAt === beforeAll && before.objects.size === 0);
      const kind = isUnlisted ? emptyKind(resourceVersion) : before;
      for (const each of [...(before?.queries ?? []), query]) kind.queries.add(each);
      kinds.set(name, kind);
      if (items.some((object) => !addIfNewer(kind, object))) drop(name);
    },
    observeWrite(ref) {
      const name = resourceNameOf(ref);
      if (!byName.has(name)) return undefined;
      pendingWrites += 1;
      return (outcome) => {
        pendingWrites -= 1;
        const kind = kinds.get(name);
        if (kind === undefined) written.add(name);
        if (
          outcome === "unknown" ||
          (outcome !== "refused" && kind !== undefined && !addIfNewer(kind, outcome))
        )
          drop(name);
      };
    },
    text() {
      return kinds.size === 0 || pendingWrites > 0 ? undefined : savedText(kinds);
    },
    noteAllSeen: () => (areAllSeen = true),
    seen: () => (areAllSeen ? beginningsOf(kinds) : []),
  };
}

/** Older than the version of every object. */
const beforeAll: ResourceVersion = "0";

const emptyKind = (at: ResourceVersion): CachedKind => ({
  queries: new Set(),
  listedAt: at,
  toldUpTo: at,
  objects: new Map(),
});

function beginningsOf(kinds: ReadonlyMap<string, CachedKind>): readonly string[] {
  const all = [...kinds].flatMap(([kind, { objects }]) =>
    [...objects.values()].map((object) =>
      deltaBeginning({ kind, key: keyOf(object), resourceVersion: object.metadata.resourceVersion }),
    ),
  );
  return all.join("\n").length > maxSeenLength ? [] : all;
}

/** Writes the format of `savedSchema`. Stops at the size limit, so that hundreds of objects are not written in vain. */
function savedText(kinds: ReadonlyMap<string, CachedKind>): string | undefined {
  let length = 0;
  const texts: string[] = [];
  for (const [name, { queries, listedAt, toldUpTo, objects }] of kinds) {
    const objectTexts: string[] = [];
    for (const object of objects.values()) {
      if (isSecret(object)) return undefined;
      const text = objectText(object);
      if (text === undefined) return undefined;
      length += text.length;
      if (length > maxCacheLength) return undefined;
      objectTexts.push(text);
    }
    const rest = JSON.stringify({ queries: [...queries], listedAt, toldUpTo });
    texts.push(`${JSON.stringify(name)}:{"objects":[${objectTexts.join()}],${rest.slice(1)}`);
  }
  return `{${texts.join()}}`;
}

/** Adds an object if it is newer than the cached one. False if it is uncertain which of the two is newer. */
function addIfNewer({ objects }: CachedKind, object: KubeObject): boolean {
  const key = keyOf(object);
  const mine = objects.get(key);
  const order =
    mine === undefined
      ? "newer"
      : versionOrder(object.metadata.resourceVersion, mine.metadata.resourceVersion);
  if (order === "newer") objects.set(key, object);
  return order !== "incomparable";
}

/**
 * Restores the cache from the previous run's lists and the changes since. A kind with an uncertain change is left out.
 * If a text cannot be parsed, another client wrote it: then the cache is empty.
 */
function restored(
  refs: ReadonlyMap<string, ResourceRef>,
  { stored, deltas }: { readonly stored: string; readonly deltas: readonly string[] },
): ReadonlyMap<string, CachedKind> {
  try {
    const all = deltas.map((text) => deltaSchema.parse(parseJson(text))).sort(byVersion);
    const kinds = Object.entries(savedSchema.parse(parseJson(stored))).flatMap(([name, kind]) => {
      const ref = refs.get(name);
      if (ref === undefined) return [];
      const objects = kind.objects.map((object) => objectFrom("a copy", ref, object));
      const cached: CachedKind = {
        queries: new Set(kind.queries),
        listedAt: kind.listedAt,
        toldUpTo: kind.toldUpTo,
        objects: new Map(objects.map((object) => [keyOf(object), object])),
      };
      const isSure = all.every((one) => one.kind !== name || applyDelta(ref, cached, one));
      return isSure ? [[name, cached] as const] : [];
    });
    return new Map(kinds);
  } catch {
    return new Map();
  }
}

/** A deletion comes last among equal versions: it may carry the last version that its object had. */
function byVersion(a: ObjectDelta, b: ObjectDelta): number {
  const order = versionOrder(a.resourceVersion, b.resourceVersion);
  if (order === "same") return Number(a.object === undefined) - Number(b.object === undefined);
  return order === "newer" ? 1 : -1;
}

/**
 * Applies a change. False if its effect is uncertain. A change of an object that is not cached may be older than the
 * object's deletion, if a newer change came before it. A deletion that is older than the cached object may be that of
 * an earlier object, or carry the version of the change before it.
 */
function applyDelta(
  ref: ResourceRef,
  kind: CachedKind,
  { key, resourceVersion, object }: ObjectDelta,
): boolean {
  const mine = kind.objects.get(key)?.metadata.resourceVersion;
  const order = versionOrder(resourceVersion, mine ?? kind.listedAt);
  const isSince = versionOrder(resourceVersion, kind.toldUpTo);
  if (order === "incomparable" || isSince === "incomparable") return false;
  if (isSince === "newer") kind.toldUpTo = resourceVersion;
  if (object === undefined) {
    kind.objects.delete(key);
    return mine === undefined || order !== "older";
  }
  if (order !== "newer") return true;
  const it = objectFrom("a copy", ref, object);
  kind.objects.set(key, it);
  return it.metadata.resourceVersion === resourceVersion && (mine !== undefined || isSince === "newer");
}
