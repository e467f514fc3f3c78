// One watch: existing objects or missed changes first, then each change when it happens, as lines of JSON.
import { writeJson } from "@drover/json";
import type { ServerResponse } from "node:http";
import type { Cluster } from "../storage/cluster.ts";
import { forbidden, notSupported } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import type { JsonObject } from "../json.ts";
import { namespaceOf, withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { flagIn, integerIn, selectorIn, versionIn } from "./reads.ts";
import type { Representation } from "../http/representation.ts";
import { apiVersionOf, asServed } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { ApiError, expired, invalidOptions, serverError, tooLargeVersion } from "../http/status.ts";
import type { Change } from "../storage/store.ts";

/** A client this many bytes behind is disconnected, as by the API server. It comes back with its last version. */
const mostUnsent = 64 * 1024 * 1024;

/** The interval of bookmarks, for watches that allow them. */
const bookmarkEveryMs = 60_000;

/** A running watch. */
export interface Watch {
  /** Ends the response, as after a timeout. */
  end(): void;
  /** Breaks the connection without ending the response. */
  drop(): void;
}

function refuseWatchOptions(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.has("sendInitialEvents");
  const errors: FieldError[] = [];
  const no = (why: string): void => void errors.push(forbidden("resourceVersionMatch", why));
  if (initial && match !== "NotOlderThan")
    no("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  if (match !== "" && !initial)
    no("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  if (match !== "" && match !== "NotOlderThan")
    errors.push(notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
  if (match !== "" && query.get("continue"))
    no("resourceVersionMatch is forbidden when continue is provided");
  if (errors.length > 0) throw invalidOptions("ListOptions", errors);
}

/** The change for a client that sees only the objects that `sees` accepts. */
function seenAs(
  type: ResourceType,
  change: Change,
  sees: (object: KubeObject) => boolean,
): [string, KubeObject] | undefined {
  const now = asServed(type, change.object);
  const before = change.previous && asServed(type, change.previous);
  const was = before !== undefined && sees(before);
  if (change.type !== "DELETED" && sees(now)) return [was ? "MODIFIED" : "ADDED", now];
  return was ? ["DELETED", withMeta(before, "resourceVersion", String(change.version))] : undefined;
}

export interface WatchContext {
  readonly cluster: Cluster;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly query: URLSearchParams;
  readonly shown: Representation;
}

interface WatchOptions {
  /** Only changes after this version are sent. */
  readonly since: number;
  /** True if the watch begins with the existing objects. With bookmarks, one marks their end. */
  readonly initial: boolean;
  /** The changes since a version, or the error that answers the request. */
  readonly missed: readonly Change[] | ApiError;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

function missedSince({ store }: Cluster, bucket: string, since: number): readonly Change[] | ApiError {
  return (
    store.changesSince(bucket, since) ??
    expired(`too old resource version: ${since} (${store.compactedVersion})`)
  );
}

function optionsOf({ cluster, type, query }: WatchContext): WatchOptions {
  refuseWatchOptions(query);
  const since = versionIn(query, serverError) ?? 0;
  integerIn(query, "limit");
  const seconds = integerIn(query, "timeoutSeconds") ?? 1_800 + Math.random() * 1_800;
  const initial = query.get("sendInitialEvents") ? flagIn(query, "sendInitialEvents") : since === 0;
  const { version } = cluster.store;
  const tooSoon = initial && since > version ? tooLargeVersion(since, version) : [];
  return {
    since: initial ? 0 : since,
    initial,
    missed: initial || since === 0 ? tooSoon : missedSince(cluster, type.bucket, since),
    bookmarks: flagIn(query, "allowWatchBookmarks"),
    timeoutMs: Math.min(seconds * 1000, 2 ** 31 - 1),
  };
}

/**
 * Starts a watch on `out`, which it ends. Throws 400, 422 or 500 before it sends anything. Calls `done` once, at its
 * end.
 */
export function startWatch(context: WatchContext, out: ServerResponse, done: () => void): Watch {
  const { cluster, type, namespace, query, shown } = context;
  const { since, initial, missed, bookmarks, timeoutMs } = optionsOf(context);
  const matches = selectorIn(type, query);
  const sees = (object: KubeObject): boolean =>
    (namespace === "" || namespaceOf(object) === namespace) && (matches?.(object) ?? true);
  const send = (event: string, object: JsonObject): void => {
    if (!out.writableEnded) out.write(`${writeJson({ type: event, object })}\n`);
    if (out.writableLength > mostUnsent) out.destroy();
  };
  // If events cannot have the shape, the watch ends instead of the first event.
  const tellObject = (event: string, object: KubeObject): void => {
    if (shown.hasEvents) send(event, shown.event(object));
    else out.end();
  };
  const emit = (change: Change): void => {
    const seen = change.version > since ? seenAs(type, change, sees) : undefined;
    if (seen) tellObject(seen[0], seen[1]);
  };
  const bookmark = (annotations?: JsonObject): void => {
    const metadata: JsonObject = {
      resourceVersion: String(cluster.store.version),
      ...(annotations && { annotations }),
    };
    tellObject("BOOKMARK", { kind: type.kind, apiVersion: apiVersionOf(type), metadata });
  };

  out.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  out.flushHeaders();
  const unsubscribe = cluster.store.subscribe(type.bucket, emit);
  const timeout = setTimeout(() => out.end(), timeoutMs);
  const ticking = bookmarks ? setInterval(() => bookmark(), bookmarkEveryMs) : undefined;
  out.once("close", () => {
    unsubscribe();
    clearTimeout(timeout);
    clearInterval(ticking);
    done();
  });
  if (missed instanceof ApiError) {
    send("ERROR", missed.status);
    out.end();
  } else {
    const there = initial ? cluster.store.list(type.bucket).objects.map((one) => asServed(type, one)) : [];
    for (const object of there.filter(sees)) tellObject("ADDED", object);
    if (initial && bookmarks) bookmark({ "k8s.io/initial-events-end": "true" });
    missed.forEach(emit);
  }
  return { end: () => void out.end(), drop: () => void out.destroy() };
}
