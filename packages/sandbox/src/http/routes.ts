// Routes: the path of a request selects a type and an object, and its method selects the operation.
import type { ServerResponse } from "node:http";
import { definitionsBucket } from "../storage/cluster.ts";
import type { Cluster } from "../storage/cluster.ts";
import { isFieldValidation, summary } from "../writing/decoding.ts";
import { optionsOfDelete, remove } from "../writing/deletions.ts";
import { isPropagation } from "../writing/deletion-policy.ts";
import type { Propagation } from "../writing/deletion-policy.ts";
import { forbidden, notSupported, required, tooLong, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { managerOf } from "../writing/managed-fields.ts";
import { isObject, listAt, parseJson } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { isKubeObject } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { noCollections, noProtobuf, refuseMissing, refuseReview } from "./missing.ts";
import { isApply, patchFor } from "../writing/patch.ts";
import { segmentsOf } from "./paths.ts";
import { loadRulesFor } from "../rules/lazy-rules.ts";
import { flagIn, get, integerIn, list } from "../reading/reads.ts";
import { representationFor } from "./representation.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import * as status from "./status.ts";
import { parseYaml } from "./yaml.ts";
import { startWatch } from "../reading/watch.ts";
import type { Watch } from "../reading/watch.ts";
import { apply, bind, create, patch, replace } from "../writing/writes.ts";
import type { Target, WriteOptions } from "../writing/writes.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The value of a header; "" if the request lacks it. */
  readonly header: (name: string) => string;
  /** Rejects with 413 if the body is too large. */
  readonly body: () => Promise<Uint8Array>;
  /** Adds a warning to the answer. */
  readonly warn: (text: string) => void;
  /** The response, to which a watch writes. */
  readonly out: ServerResponse;
}

export interface ApiAnswer {
  readonly code: number;
  readonly body: JsonObject;
}

export interface ApiContext {
  readonly cluster: Cluster;
  readonly watches: Set<Watch>;
}

/** The target of a path. */
interface Route extends Target {
  /** All namespaces at once: only reads are possible. */
  readonly everywhere: boolean;
}

/**
 * The target of a path; undefined if its group is not served. Throws 404 or 501 for other paths that are not served.
 */
function targetOf(cluster: Cluster, path: string): Route | undefined {
  const [root, ...parts] = segmentsOf(path);
  const [group = "", version = "", ...rest] = root === "api" ? ["", ...parts] : parts;
  if (root === "apis" && group === "") return undefined;
  const ofNamespace = group === "" && rest[2] === "status";
  const inNamespace = rest[0] === "namespaces" && rest.length > 2 && !ofNamespace;
  const named = inNamespace ? rest.slice(2) : rest;
  const [resource = "", name = "", subresource = ""] = named;
  const type = cluster.typeOf(group, version, resource);
  const misplaced = type && (type.namespaced ? !inNamespace && name !== "" : inNamespace);
  if (!type) refuseReview(group, resource);
  if (!type || misplaced) {
    const known = cluster.types().some((one) => !one.custom && one.group === group);
    if (!known) return undefined;
    throw status.noSuchResource();
  }
  const namespace = inNamespace ? (rest[1] ?? "") : "";
  const target = { type, name, namespace, everywhere: type.namespaced && !inNamespace };
  refuseMissing(type, subresource);
  if (!type.custom && named.length > 3) throw status.noSuchResource();
  if (subresource === "") return { ...target, subresource };
  if (subresource === "status" && type.status) return { ...target, subresource };
  if (subresource === "binding" && type.bucket === "pods") return { ...target, subresource };
  throw type.custom ? status.notFound(type, name) : status.noSuchResource();
}

function writeOptions({ query, method, header, warn }: ApiRequest): WriteOptions {
  const kind = method === "PATCH" ? "PatchOptions" : method === "PUT" ? "UpdateOptions" : "CreateOptions";
  const fieldValidation = query.get("fieldValidation") || "Warn";
  const dryRun = query.getAll("dryRun");
  const manager = query.get("fieldManager") ?? "";
  const isApplied = isApply(header("content-type"));
  const isOtherPatch = method === "PATCH" && !isApplied;
  const errors = [
    ...when(isApplied && manager === "", required("fieldManager", "is required for apply patch")),
    ...when(
      isOtherPatch && query.has("force"),
      forbidden("force", "may not be specified for non-apply patch"),
    ),
    ...when(Buffer.byteLength(manager) > 128, tooLong("fieldManager", 128)),
    ...dryRunErrors(dryRun),
    ...when(
      !isFieldValidation(fieldValidation),
      notSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]),
    ),
  ];
  if (errors.length > 0 || !isFieldValidation(fieldValidation)) throw status.invalidOptions(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation,
    warn,
    manager: managerOf(query, header("user-agent")),
  };
}

const dryRunErrors = (values: readonly Json[]): FieldError[] =>
  when(
    values.some((value) => value !== "All"),
    notSupported("dryRun", values, ["All"]),
  );

function parsed(body: Uint8Array, what: string): Json {
  const text = Buffer.from(body).toString();
  try {
    return parseJson(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw status.badRequest(`${what}couldn't get version/kind; json parse error: ${why} (${summary(text)})`);
  }
}

const mediaOf = (request: ApiRequest): string => request.header("content-type").split(";")[0]?.trim() ?? "";

function refuseMedia(request: ApiRequest): void {
  const media = mediaOf(request);
  if (media === "application/vnd.kubernetes.protobuf") throw noProtobuf();
  const taken = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
  if (media !== "" && media !== "application/json") throw status.unsupportedMediaType(taken);
}

async function objectBody(request: ApiRequest, { kind }: ResourceType): Promise<Json> {
  refuseMedia(request);
  return parsed(await request.body(), `the object provided is unrecognized (must be of type ${kind}): `);
}

/**
 * Serves one request for a resource. Returns undefined if the group of the path is not served, and "watching" if a
 * watch writes the response from now on. Rejects with ApiError.
 */
export async function serveResource(
  context: ApiContext,
  request: ApiRequest,
): Promise<ApiAnswer | "watching" | undefined> {
  const target = targetOf(context.cluster, request.path);
  if (!target) return undefined;
  target.type.warnings.forEach(request.warn);
  const { method } = request;
  const outside = target.type.namespaced && target.namespace === "";
  if (outside && target.type.custom && !(method === "GET" && target.name === "")) return undefined;
  if (target.everywhere && method !== "GET") throw status.methodNotAllowed();
  if (target.subresource === "binding") {
    if (method !== "POST") throw status.methodNotAllowed();
    return bindOne(context, request, target);
  }
  if (method === "GET")
    return target.name === "" ? readMany(context, request, target) : readOne(context, request, target);
  if (method === "DELETE" && target.name === "") throw noCollections();
  if (method === "DELETE") return removeOne(context, request, target);
  const { type } = target;
  if (type.custom && target.name === "" && method === "PUT") throw status.badRequest("name must be provided");
  if (type.custom && !["POST", "PUT", "PATCH"].includes(method)) throw status.notSupportedVerb(type, "");
  if (type.custom && method === "POST" && target.subresource !== "")
    throw status.notSupportedVerb(type, "create");
  if (type.custom && method === "PATCH" && target.name === "") refuseNameless(request);
  if (method === "POST" && (target.name === "" || type.custom)) return write(context, request, target);
  if ((method === "PUT" || method === "PATCH") && target.name !== "") return write(context, request, target);
  throw status.methodNotAllowed();
}

const shapeFor = ({ cluster }: ApiContext, { header, query }: ApiRequest, type: ResourceType) =>
  representationFor(type, header("accept"), query, cluster.now);
const answer = (body: JsonObject, code = 200): ApiAnswer => ({ code, body });

function readOne(context: ApiContext, request: ApiRequest, target: Target): ApiAnswer {
  const shown = shapeFor(context, request, target.type);
  return answer(shown.object(get(context.cluster, target, request.query)));
}

function readMany(
  context: ApiContext,
  request: ApiRequest,
  { type, namespace }: Target,
): ApiAnswer | "watching" {
  const { cluster, watches } = context;
  const { query, out } = request;
  const shown = shapeFor(context, request, type);
  if (!flagIn(query, "watch")) {
    const { objects, metadata } = list(cluster, type, namespace, query);
    return answer(shown.list(objects, metadata));
  }
  const about = { cluster, type, namespace, query, shown };
  const watch = startWatch(about, out, () => void watches.delete(watch));
  watches.add(watch);
  return "watching";
}

async function write(context: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  const { cluster } = context;
  const { type } = target;
  const options = writeOptions(request);
  const shown = shapeFor(context, request, type);
  if (type.bucket === definitionsBucket) await loadRulesFor(Buffer.from(await request.body()).toString());
  if (request.method === "PATCH" && isApply(request.header("content-type"))) {
    const config = parseYaml(Buffer.from(await request.body()).toString());
    const force = flagIn(request.query, "force");
    const { object, isNew } = apply(cluster, target, config, { ...options, force });
    return answer(shown.object(object), isNew ? 201 : 200);
  }
  if (request.method === "PATCH") {
    const change = await patchIn(request, type);
    return answer(shown.object(patch(cluster, target, change, options)));
  }
  const body = await objectBody(request, type);
  if (request.method === "POST") return answer(shown.object(create(cluster, target, body, options)), 201);
  return answer(shown.object(replace(cluster, target, body, options)));
}

/** Throws 415 or 400 for a patch of no object. */
function refuseNameless(request: ApiRequest): never {
  const contentType = request.header("content-type");
  if (!isApply(contentType)) patchFor(contentType, true);
  throw status.badRequest("name must be provided");
}

/** Returns the change that a patch makes of an object. */
async function patchIn(request: ApiRequest, { custom }: ResourceType) {
  const change = patchFor(request.header("content-type"), custom);
  const given = parsed(await request.body(), "error decoding patch: ");
  return (object: KubeObject) => change(object, given);
}

async function bindOne({ cluster }: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  const options = writeOptions(request);
  const body = parsed(await request.body(), "");
  return answer(bind(cluster, target, body, options), 201);
}

async function deleteOptions(request: ApiRequest) {
  const { query, body } = request;
  const sent = await body();
  if (sent.length > 0) refuseMedia(request);
  const options = sent.length === 0 ? {} : (parsed(sent, "") ?? {});
  if (!isObject(options)) throw status.badRequest("couldn't get version/kind; json parse error: no object");
  const { errors, propagation } = policyIn(query, options);
  const dryRun = [...query.getAll("dryRun"), ...listAt(options, "dryRun")];
  const all = [...errors, ...dryRunErrors(dryRun)];
  if (all.length > 0) throw status.invalidOptions("DeleteOptions", all);
  const grace = integerIn(query, "gracePeriodSeconds");
  const asked = grace === undefined ? options : { gracePeriodSeconds: grace, ...options };
  return optionsOfDelete(asked, dryRun.length > 0, propagation);
}

/** The treatment of the dependents of an object. */
function policyIn(
  query: URLSearchParams,
  options: JsonObject,
): { propagation: Propagation | undefined; errors: FieldError[] } {
  const policy = query.get("propagationPolicy") ?? options["propagationPolicy"];
  if (policy === undefined || policy === null) return { propagation: undefined, errors: [] };
  if (isPropagation(policy)) return { propagation: policy, errors: [] };
  const known = ["Foreground", "Background", "Orphan", "nil"];
  return { propagation: undefined, errors: [notSupported("propagationPolicy", policy, known)] };
}

async function removeOne(context: ApiContext, request: ApiRequest, target: Target): Promise<ApiAnswer> {
  if (target.subresource !== "")
    throw target.type.custom ? status.notSupportedVerb(target.type, "delete") : status.methodNotAllowed();
  const options = await deleteOptions(request);
  const left = remove(context.cluster, target, options);
  const isObjectLeft = isKubeObject(left) && left.kind !== "Status";
  const shown = isObjectLeft ? shapeFor(context, request, target.type).object(left) : left;
  return answer(shown);
}
