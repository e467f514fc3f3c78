import { parseJson } from "@drover/json";
import { z } from "zod";
import type { KnownObjects, WriteOutcome } from "./client.ts";
import { isSecret, keyOf, type KubeObject } from "./kube-object.ts";
import { objectText } from "./object-copy.ts";
import { newsSchema, type ObjectNews } from "./object-news.ts";
import { objectFrom } from "./reply.ts";
import { type ResourceVersion, versionOrder } from "./reflector/resource-version.ts";
import { nameOf, type ResourceRef } from "./resource-ref.ts";

/** Characters of the objects that a run leaves at most: more is listed anew. */
const longestLists = 65_536;

/** What a run knows of one kind: the answers to what was asked of it, and what was told and written since. */
interface KnownKind {
  readonly queries: Set<string>;
  /** What is not here at this version was not there, as far as it was asked for. */
  readonly listedAt: ResourceVersion;
  /** The newest version that was told of since. */
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

/** What a run was told when it began. */
export interface Told {
  /** What the run before has left (`text`), and the news that were told since that began, in any order. */
  readonly lists?: { readonly left: string; readonly news: readonly string[] } | undefined;
  /** By kind, whether anything was ever told of it. */
  readonly versions: Readonly<Record<string, ResourceVersion>>;
}

/** What a run knows of the objects of some kinds, and what it leaves of that to the next one. */
export interface RunKnowledge extends KnownObjects {
  /** To be told of the run's writes. */
  readonly follow: (ref: ResourceRef) => ((outcome: WriteOutcome) => void) | undefined;
  /** It as text; undefined where there is nothing that is certain, or too much. */
  text(): string | undefined;
}

/** Knowledge of objects of these kinds. Nothing is known of one as soon as there is any doubt: then it is asked for anew. */
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

/** As `leftSchema` has it; of hundreds of objects no more are written than it takes to see that they are too many. */
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

/** Whether it is certain which is the newer one. */
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

/** Whatever in it cannot be read was written by somebody else, and is not known. */
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

/** That an object is gone may be told by the last version that it had. */
function oldestFirst(a: ObjectNews, b: ObjectNews): number {
  const order = versionOrder(a.resourceVersion, b.resourceVersion);
  if (order === "same") return Number(a.object === undefined) - Number(b.object === undefined);
  return order === "newer" ? 1 : -1;
}

/**
 * Whether it is certain what the news mean. News of an object that is not known may be those of one that went since, where
 * something newer was told before them; and a deletion of an older version than the known one may be that of another object,
 * or the version of the last news before it.
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
