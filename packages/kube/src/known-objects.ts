import { parseJson } from "@drover/json";
import { z } from "zod";
import type { KnownObjects, WriteOutcome } from "./client.ts";
import { isSecret, keyOf, type KubeObject } from "./kube-object.ts";
import { objectText } from "./object-copy.ts";
import { newsSchema, type ObjectNews } from "./object-news.ts";
import { objectFrom } from "./reply.ts";
import { type ResourceVersion, versionOrder } from "./reflector/resource-version.ts";
import { nameOf, type ResourceRef } from "./resource-ref.ts";

/** Most characters of the objects that a run leaves. If there are more, the next run lists them. */
const longestLists = 65_536;

/** The cached objects of one kind: the answers to the run's queries, with all later changes and writes applied. */
interface KnownKind {
  readonly queries: Set<string>;
  /**
   * Version of the first list. Within the queries made, an object that is absent here did not exist at this version.
   */
  readonly listedAt: ResourceVersion;
  /** The newest version among the changes that were applied since. */
  toldUpTo: ResourceVersion;
  readonly objects: Map<string, KubeObject>;
}

const leftSchema = z.record(
  z.string(),
  z.object({
    queries: z.array(z.string()),
    listedAt: z.string(),
    toldUpTo: z.string(),
    objects: z.array(z.unknown()),
  }),
);

/** The cached data that a run received when it began. */
export interface Told {
  /** The lists that the previous run left, and the changes (`news`) since that run began, in any order. */
  readonly lists?: { readonly left: string; readonly news: readonly string[] } | undefined;
  /**
   * By kind: the highest version that a wake or a run of the key has named. None: the kind has never affected the key.
   */
  readonly versions: Readonly<Record<string, ResourceVersion>>;
}

/** The cached objects of a run, some of which it leaves to the next run. */
export interface RunKnowledge extends KnownObjects {
  /** Called before each write of the run; undefined for a kind that is not cached. See `WriteGuard.follow`. */
  readonly follow: (ref: ResourceRef) => ((outcome: WriteOutcome) => void) | undefined;
  /** The cache as text, for the next run; undefined if it is empty, uncertain, or too large. */
  text(): string | undefined;
}

/** Opens a run's cache for these kinds. If a kind becomes uncertain, it is dropped from the cache, and listed live. */
export function knownObjects(refs: readonly ResourceRef[], { lists, versions }: Told): RunKnowledge {
  const known = new Map<string, KnownKind>();
  const doubtful = new Set<string>();
  let underWay = 0;
  const byName = new Map(refs.map((ref) => [nameOf(ref), ref]));
  const doubt = (name: string): void => {
    known.delete(name);
    doubtful.add(name);
  };
  if (lists !== undefined) for (const [name, kind] of remembered(byName, lists)) known.set(name, kind);
  return {
    find(ref, query, naming) {
      const name = nameOf(ref);
      const kind = known.get(name);
      if (kind === undefined || underWay > 0) return undefined;
      if (naming && versions[name] === undefined) kind.queries.add(query);
      return kind.queries.has(query) ? [...kind.objects.values()] : undefined;
    },
    found(ref, query, { resourceVersion, items }) {
      const name = nameOf(ref);
      if (!byName.has(name) || doubtful.has(name)) return;
      const kind = known.get(name) ?? unknown(resourceVersion);
      kind.queries.add(query);
      known.set(name, kind);
      if (items.some((object) => !see(kind, object))) doubt(name);
    },
    follow(ref) {
      const name = nameOf(ref);
      if (!byName.has(name)) return undefined;
      underWay += 1;
      return (outcome) => {
        underWay -= 1;
        const kind = known.get(name);
        if (outcome === "unknown" || (outcome !== "refused" && kind !== undefined && !see(kind, outcome)))
          doubt(name);
      };
    },
    text() {
      return known.size === 0 || underWay > 0 ? undefined : leftOf(known);
    },
  };
}

const unknown = (at: ResourceVersion): KnownKind => ({
  queries: new Set(),
  listedAt: at,
  toldUpTo: at,
  objects: new Map(),
});

/** Writes the format of `leftSchema`. Stops at the size limit, so that hundreds of objects are not written in vain. */
function leftOf(known: ReadonlyMap<string, KnownKind>): string | undefined {
  let length = 0;
  const kinds: string[] = [];
  for (const [name, { queries, listedAt, toldUpTo, objects }] of known) {
    const texts: string[] = [];
    for (const object of objects.values()) {
      if (isSecret(object)) return undefined;
      const text = objectText(object);
      if (text === undefined) return undefined;
      length += text.length;
      if (length > longestLists) return undefined;
      texts.push(text);
    }
    const rest = JSON.stringify({ queries: [...queries], listedAt, toldUpTo });
    kinds.push(`${JSON.stringify(name)}:{"objects":[${texts.join()}],${rest.slice(1)}`);
  }
  return `{${kinds.join()}}`;
}

/** Adds an object if it is newer than the cached one. False if it is uncertain which of the two is newer. */
function see({ objects }: KnownKind, object: KubeObject): boolean {
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
function remembered(
  refs: ReadonlyMap<string, ResourceRef>,
  { left, news }: { readonly left: string; readonly news: readonly string[] },
): ReadonlyMap<string, KnownKind> {
  try {
    const all = news.map((text) => newsSchema.parse(parseJson(text))).sort(oldestFirst);
    const kinds = Object.entries(leftSchema.parse(parseJson(left))).flatMap(([name, kind]) => {
      const ref = refs.get(name);
      if (ref === undefined) return [];
      const objects = kind.objects.map((object) => objectFrom("a copy", ref, object));
      const known: KnownKind = {
        queries: new Set(kind.queries),
        listedAt: kind.listedAt,
        toldUpTo: kind.toldUpTo,
        objects: new Map(objects.map((object) => [keyOf(object), object])),
      };
      const isSure = all.every((one) => one.kind !== name || hear(ref, known, one));
      return isSure ? [[name, known] as const] : [];
    });
    return new Map(kinds);
  } catch {
    return new Map();
  }
}

/** A deletion comes last among equal versions: it may carry the last version that its object had. */
function oldestFirst(a: ObjectNews, b: ObjectNews): number {
  const order = versionOrder(a.resourceVersion, b.resourceVersion);
  if (order === "same") return Number(a.object === undefined) - Number(b.object === undefined);
  return order === "newer" ? 1 : -1;
}

/**
 * Applies a change. False if its effect is uncertain. A change of an object that is not cached may be older than the
 * object's deletion, if a newer change came before it. A deletion that is older than the cached object may be that of
 * an earlier object, or carry the version of the change before it.
 */
function hear(ref: ResourceRef, kind: KnownKind, { key, resourceVersion, object }: ObjectNews): boolean {
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
