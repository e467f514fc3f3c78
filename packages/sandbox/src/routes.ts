// From paths to what they name, and from verbs to what is done.
import type { ServerResponse } from "node:http";
import { appliedBody, isApply } from "./applied-body.ts";
import type { Cluster } from "./cluster.ts";
import { isFieldValidation } from "./decoding.ts";
import { notSupported } from "./field-errors.ts";
import { managerOf } from "./field-tracking.ts";
import { isObject, listAt, parseJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { isKubeObject, nameOf, namespaceOf } from "./kube-object.ts";
import { refuseMissing } from "./missing.ts";
import { patchFor } from "./patch.ts";
import { fromProtobuf } from "./protobuf.ts";
import { get, list } from "./reads.ts";
import { representationFor } from "./representation.ts";
import type { ResourceType } from "./resource-type.ts";
import { readScale, scaleTypeOf } from "./scale.ts";
import type { ScaleChange } from "./scale.ts";
import * as status from "./status.ts";
import { startWatch } from "./watch.ts";
import type { Watch } from "./watch.ts";
import {
  apply,
  bind,
  create,
  optionsOfDelete,
  patch,
  refuseOtherName,
  remove,
  replace,
  scale,
} from "./writes.ts";
import type { Target, WriteOptions } from "./writes.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** A header's value, "" without it. */
  readonly header: (name: string) => string;
  /** Rejects with 413 when it is too large. */
  readonly body: () => Promise<Uint8Array>;
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

function segments(path: string): string[] {
  try {
    return path.split("/").slice(1).map(decodeURIComponent);
  } catch {
    throw status.badRequest(`the path ${path} is not encoded as a URL`);
  }
}

/** What a path names, or undefined where nothing serves it. Throws 404 or 501 inside of what is served. */
function targetOf(cluster: Cluster, path: string): Target | undefined {
  const [root, ...parts] = segments(path);
  const [group = "", version = "", ...rest] = root === "api" ? ["", ...parts] : parts;
  const ofNamespace = group === "" && (rest[2] === "status" || rest[2] === "finalize");
  const inNamespace = rest[0] === "namespaces" && rest.length > 2 && !ofNamespace;
  const [resource = "", name = "", subresource = ""] = inNamespace ? rest.slice(2) : rest;
  const type = cluster.typeOf(group, version, resource);
  const misplaced = type && (type.namespaced ? !inNamespace && name !== "" : inNamespace);
  if (!type || misplaced) {
    if (!cluster.types().some((one) => !one.custom && one.group === group && one.version === version))
      return undefined;
    throw status.noSuchResource();
  }
  const target = { type, name, namespace: inNamespace ? (rest[1] ?? "") : "" };
  if (subresource === "") return { ...target, subresource };
  if (subresource === "scale" && type.scale) return { ...target, subresource };
  refuseMissing(type, subresource);
  if (subresource === "status" && type.status) return { ...target, subresource };
  if (subresource === "binding" && type.bucket === "pods") return { ...target, subresource };
  throw type.custom ? status.notFound(type, name) : status.noSuchResource();
}

function writeOptions({ query, method, header }: ApiRequest, warnings: string[]): WriteOptions {
  const patch = isApply(header("content-type")) ? "apply" : "PatchOptions";
  const kind = method === "PATCH" ? patch : method === "PUT" ? "UpdateOptions" : "CreateOptions";
  const manager = managerOf(query, header("user-agent"), kind);
  const fieldValidation = query.get("fieldValidation") || "Warn";
  if (!isFieldValidation(fieldValidation))
    throw status.invalidOptions("CreateOptions", [
      notSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]),
    ]);
  return {
    dryRun: dryRunIn(query.getAll("dryRun")),
    fieldValidation,
    warn: (text) => void warnings.push(text),
    manager,
  };
}

const isForced = ({ query }: ApiRequest): boolean =>
  ["true", "1", "t", "T", "TRUE", "True"].includes(query.get("force") ?? "");

function dryRunIn(values: readonly Json[]): boolean {
  if (values.some((value) => value !== "All" && value !== ""))
    throw status.invalidOptions("CreateOptions", [notSupported("dryRun", values, ["All"])]);
  return values.includes("All");
}

function parsed(body: Uint8Array, what: string): Json {
  try {
    return parseJson(Buffer.from(body).toString());
  } catch (error) {
    throw status.badRequest(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function objectBody(request: ApiRequest, { kind }: ResourceType): Promise<Json> {
  const media = request.header("content-type").split(";")[0]?.trim() ?? "";
  if (media === "application/vnd.kubernetes.protobuf") return fromProtobuf(await request.body());
  if (media !== "" && media !== "application/json") throw status.unsupportedMediaType(["application/json"]);
  const what = `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error`;
  return parsed(await request.body(), what);
}

/**
 * Serves one request for a resource. Returns undefined when nothing of the path is served, and "watching" when the
 * response is the watch's from here on. Rejects with ApiError.
 */
export async function serveResource(
  context: ApiContext,
  request: ApiRequest,
): Promise<ApiAnswer | "watching" | undefined> {
  const target = targetOf(context.cluster, request.path);
  if (!target) return undefined;
  const { method } = request;
  if (target.subresource === "binding") {
    if (method !== "POST") throw status.methodNotAllowed();
    return bindOne(context, request, target);
  }
  if (target.subresource === "scale") return scaleOne(context, request, target);
  if (method === "GET")
    return target.name === "" ? readMany(context, request, target) : readOne(context, request, target);
  if (method === "DELETE")
    return target.name === "" ? removeMany(context, request, target) : removeOne(context, request, target);
  const { type, namespace } = target;
  if (method === "POST" && type.namespaced && namespace === "" && type.custom) return undefined;
  if (method === "POST" && target.name === "" && type.namespaced === (namespace !== ""))
    return write(context, request, target);
  if ((method === "PUT" || method === "PATCH") && target.name !== "") return write(context, request, target);
  throw status.methodNotAllowed();
}

const shapeFor = ({ cluster }: ApiContext, { header, query }: ApiRequest, type: ResourceType) =>
  representationFor(type, header("accept"), query, cluster.now);
const answer = (body: JsonObject, code = 200, warnings: readonly string[] = []): ApiAnswer => ({
  code,
  body,
  warnings,
});

function readOne(context: ApiContext, request: ApiRequest, target: Target): ApiAnswer {
  const shown = shapeFor(context, request, target.type);
  return answer(shown.object(get(context.cluster, target, request.query)));
}

function readMany(
  context: ApiContext,
  request: ApiRequest,
  { type, namespace }: Target,
): ApiAnswer | "watching" {
  const { cluster, watches, bookmarkEveryMs } = context;
  const { query, out } = request;
  const shown = shapeFor(context, request, type);
  if (!["true", "1"].includes(query.get("watch") ?? "")) {
    const { objects, metadata } = list(cluster, type, namespace, query);
    return answer(shown.list(objects, metadata));
  }
  const about = { cluster, type, namespace, query, shown, bookmarkEveryMs };
  const watch = startWatch(about, out, () => void watches.delete(watch));
  watches.add(watch);
  return "watching";
}

async function write(context: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  const { cluster } = context;
  const { type } = target;
  const warnings: string[] = [];
  const options = writeOptions(request, warnings);
  const shown = shapeFor(context, request, type);
  if (request.method === "PATCH" && isApply(request.header("content-type"))) {
    const config = appliedBody(await request.body());
    const { object, created } = apply(cluster, target, config, { ...options, force: isForced(request) });
    return answer(shown.object(object), created ? 201 : 200, warnings);
  }
  if (request.method === "PATCH") {
    const change = patchFor(request.header("content-type"), type.custom);
    const body = parsed(await request.body(), "error decoding patch");
    return answer(
      shown.object(patch(cluster, target, (object) => change(object, body), options)),
      200,
      warnings,
    );
  }
  const body = await objectBody(request, type);
  if (request.method === "POST")
    return answer(shown.object(create(cluster, target, body, options)), 201, warnings);
  const { object, created } = replace(cluster, target, body, options);
  return answer(shown.object(object), created ? 201 : 200, warnings);
}

async function bindOne({ cluster }: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  const warnings: string[] = [];
  const options = writeOptions(request, warnings);
  const body = parsed(await request.body(), "the Binding is not JSON");
  return answer(bind(cluster, target, body, options), 201, warnings);
}

async function scaleOne(context: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  const { cluster } = context;
  const { method, query, header } = request;
  const type = scaleTypeOf(target.type);
  const shown = shapeFor(context, request, type);
  if (method === "GET") return answer(shown.object(readScale(target.type, get(cluster, target, query))));
  if (method !== "PUT" && method !== "PATCH") throw status.methodNotAllowed();
  const warnings: string[] = [];
  const options = writeOptions(request, warnings);
  const change = await scaleChange(request, header("content-type"), type, target.name);
  return answer(shown.object(scale(cluster, target, change, options)), 200, warnings);
}

async function scaleChange(
  request: ApiRequest,
  contentType: string,
  type: ResourceType,
  name: string,
): Promise<ScaleChange> {
  if (request.method === "PATCH" && isApply(contentType))
    return { kind: "apply", body: appliedBody(await request.body()), force: isForced(request) };
  if (request.method === "PATCH") {
    const change = patchFor(contentType, type.custom);
    const patch = parsed(await request.body(), "error decoding patch");
    return { kind: "update", body: (scale) => change(scale, patch) };
  }
  const body = await objectBody(request, type);
  refuseOtherName(name, isObject(body) ? body : {});
  return { kind: "update", body: () => body };
}

async function deleteOptions({ query, body }: ApiRequest) {
  const sent = await body();
  const options = sent.length === 0 ? {} : parsed(sent, "DeleteOptions are not JSON");
  if (!isObject(options)) throw status.badRequest("DeleteOptions are a JSON object");
  const { orphanDependents } = options;
  const legacy = orphanDependents === true ? "Orphan" : orphanDependents === false ? "Background" : undefined;
  const policy = query.get("propagationPolicy") ?? options["propagationPolicy"] ?? legacy;
  if (policy !== undefined && policy !== "Background" && policy !== "Foreground" && policy !== "Orphan")
    throw status.invalidOptions("DeleteOptions", [
      notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]),
    ]);
  const grace = query.get("gracePeriodSeconds");
  const asked = grace === null ? options : { gracePeriodSeconds: Number(grace), ...options };
  const dryRun = dryRunIn([...query.getAll("dryRun"), ...listAt(options, "dryRun")]);
  return optionsOfDelete(asked, dryRun, policy);
}

async function removeOne(context: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  if (target.subresource !== "") throw status.methodNotAllowed();
  const options = await deleteOptions(request);
  const left = remove(context.cluster, target, options);
  return answer(
    isKubeObject(left) && left.kind !== "Status"
      ? shapeFor(context, request, target.type).object(left)
      : left,
  );
}

async function removeMany(
  context: ApiContext,
  request: ApiRequest,
  { type, namespace }: Target,
): Promise<ApiAnswer> {
  if (type.bucket === "namespaces") throw status.methodNotAllowed();
  const options = await deleteOptions(request);
  const { objects, metadata } = list(context.cluster, type, namespace, request.query);
  for (const object of objects)
    remove(
      context.cluster,
      { type, namespace: namespaceOf(object), name: nameOf(object), subresource: "" },
      options,
    );
  return answer(shapeFor(context, request, type).list(objects, metadata));
}
