// From paths to what they name, and from verbs to what is done.
import type { ServerResponse } from "node:http";
import type { Cluster } from "./cluster.ts";
import { isFieldValidation } from "./decoding.ts";
import { notSupported } from "./field-errors.ts";
import { isObject, listAt, parseJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { isKubeObject, nameOf, namespaceOf } from "./kube-object.ts";
import { patchFor } from "./patch.ts";
import { get, list } from "./reads.ts";
import { representationFor } from "./representation.ts";
import {
  badRequest,
  invalidOptions,
  methodNotAllowed,
  noSuchResource,
  notImplemented,
  unsupportedMediaType,
} from "./status.ts";
import { startWatch } from "./watch.ts";
import type { Watch } from "./watch.ts";
import { create, optionsOfDelete, patch, remove, replace } from "./writes.ts";
import type { Target, WriteOptions } from "./writes.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly header: (name: string) => string;
  /** The body as text. Throws 413 when it is too large. */
  body(): Promise<string>;
  /** The response, for a watch to write to. */
  readonly out: ServerResponse;
}

export interface ApiAnswer {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

export interface ApiContext {
  readonly cluster: Cluster;
  readonly watches: Set<Watch>;
  readonly bookmarkEveryMs: number;
}

/** Subresources of a real API server that the sandbox lacks. */
const missing = new Set([
  ...["scale", "log", "exec", "attach", "portforward", "proxy", "binding", "eviction", "ephemeralcontainers"],
  ...["resize", "token", "finalize"],
]);

function segments(path: string): string[] {
  try {
    return path
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
  } catch {
    throw badRequest(`the path ${path} is not encoded as a URL`);
  }
}

/** What a path names, or undefined when its group and version are not served at all. */
function targetOf(cluster: Cluster, path: string): Target | undefined {
  const parts = segments(path);
  const [group = "", version = "", ...rest] = parts[0] === "api" ? ["", ...parts.slice(1)] : parts.slice(1);
  const [first = "", second = "", third = ""] = rest;
  const inNamespace =
    first === "namespaces" &&
    rest.length > 2 &&
    !(group === "" && (third === "status" || third === "finalize"));
  const [resource = "", name = "", subresource = ""] = inNamespace ? rest.slice(2) : [first, second, third];
  const type = cluster.typeOf(group, version, resource);
  const builtIn = cluster
    .types()
    .some((one) => !one.custom && one.group === group && one.version === version);
  if (!type && !builtIn) return undefined;
  if (!type || (type.namespaced !== inNamespace && (inNamespace || name !== ""))) throw noSuchResource();
  if (subresource !== "" && missing.has(subresource))
    throw notImplemented(`the subresource ${resource}/${subresource}`);
  if (subresource !== "" && !(subresource === "status" && type.status)) throw noSuchResource();
  return {
    type,
    name,
    namespace: inNamespace ? second : "",
    subresource: subresource === "status" ? "status" : "",
  };
}

function writeOptions({ query }: ApiRequest, warnings: string[]): WriteOptions {
  const fieldValidation = query.get("fieldValidation") || "Warn";
  if (!isFieldValidation(fieldValidation))
    throw invalidOptions("CreateOptions", [
      notSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]),
    ]);
  return {
    dryRun: dryRunIn(query.getAll("dryRun")),
    fieldValidation,
    warn: (text) => void warnings.push(text),
  };
}

function dryRunIn(values: readonly Json[]): boolean {
  const other = values.find((value) => value !== "All" && value !== "");
  if (other !== undefined) throw invalidOptions("CreateOptions", [notSupported("dryRun", other, ["All"])]);
  return values.includes("All");
}

async function jsonBody(request: ApiRequest): Promise<Json> {
  const media = request.header("content-type").split(";")[0]?.trim() ?? "";
  if (media !== "" && media !== "application/json") throw unsupportedMediaType(["application/json"]);
  return parsedBody(await request.body());
}

function parsedBody(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized: couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * Serves one request for a resource. Returns undefined when nothing of the path is served, and "watching" when the
 * response is the watch's from here on. Throws ApiError.
 */
export async function serveResource(
  context: ApiContext,
  request: ApiRequest,
): Promise<ApiAnswer | "watching" | undefined> {
  const target = targetOf(context.cluster, request.path);
  if (!target) return undefined;
  const { method } = request;
  if (method === "GET")
    return target.name === "" ? readMany(context, request, target) : readOne(context, request, target);
  if (method === "DELETE") return deleteOneOrMany(context, request, target);
  if (method === "POST" && target.name === "") return write(context, request, target);
  if ((method === "PUT" || method === "PATCH") && target.name !== "") return write(context, request, target);
  throw methodNotAllowed();
}

const answer = (body: JsonObject, code = 200, warnings: readonly string[] = []): ApiAnswer => ({
  code,
  body,
  warnings,
});

function readOne({ cluster }: ApiContext, request: ApiRequest, target: Target): ApiAnswer {
  const shown = representationFor(target.type, request.header("accept"), request.query, cluster.now);
  return answer(shown.object(get(cluster, target, request.query)));
}

function readMany(
  context: ApiContext,
  { header, query, out }: ApiRequest,
  { type, namespace }: Target,
): ApiAnswer | "watching" {
  const { cluster, watches, bookmarkEveryMs } = context;
  const shown = representationFor(type, header("accept"), query, cluster.now);
  if (!["true", "1"].includes(query.get("watch") ?? "")) {
    const { objects, metadata } = list(cluster, type, namespace, query);
    return answer(shown.list(objects, metadata));
  }
  const watch = startWatch(
    { cluster, type, namespace, query, shown, bookmarkEveryMs },
    out,
    () => void watches.delete(watch),
  );
  watches.add(watch);
  return "watching";
}

async function write({ cluster }: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  const { type, namespace } = target;
  const warnings: string[] = [];
  const options = writeOptions(request, warnings);
  const shown = representationFor(type, request.header("accept"), request.query, cluster.now);
  if (type.namespaced && namespace === "") throw methodNotAllowed();
  if (request.method === "PATCH") {
    const apply = patchFor(request.header("content-type"), type.custom);
    const body = parsedBody(await request.body());
    return answer(
      shown.object(patch(cluster, target, (object) => apply(object, body), options)),
      200,
      warnings,
    );
  }
  const body = await jsonBody(request);
  if (request.method === "POST")
    return answer(shown.object(create(cluster, type, namespace, body, options)), 201, warnings);
  const { object, created } = replace(cluster, target, body, options);
  return answer(shown.object(object), created ? 201 : 200, warnings);
}

async function deleteOneOrMany(
  { cluster }: ApiContext,
  request: ApiRequest,
  target: Target,
): Promise<ApiAnswer> {
  const { type, namespace, name, subresource } = target;
  if (subresource !== "" || (name === "" && type.bucket === "namespaces")) throw methodNotAllowed();
  const text = await request.body();
  const body = text === "" ? undefined : parsedBody(text);
  if (body !== undefined && !isObject(body)) throw badRequest("DeleteOptions are a JSON object");
  const policy = request.query.get("propagationPolicy") ?? body?.["propagationPolicy"] ?? "Background";
  if (policy !== "Background" && policy !== "Foreground" && policy !== "Orphan")
    throw invalidOptions("DeleteOptions", [
      notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]),
    ]);
  const options = optionsOfDelete(
    body,
    dryRunIn([...request.query.getAll("dryRun"), ...listAt(body, "dryRun")]),
  );
  const shown = representationFor(type, request.header("accept"), request.query, cluster.now);
  if (name !== "") {
    const left = remove(cluster, target, options);
    return answer(isKubeObject(left) && left.kind !== "Status" ? shown.object(left) : left);
  }
  const { objects, metadata } = list(cluster, type, namespace, request.query);
  for (const object of objects)
    remove(cluster, { type, namespace: namespaceOf(object), name: nameOf(object), subresource: "" }, options);
  return answer(shown.list(objects, metadata));
}
