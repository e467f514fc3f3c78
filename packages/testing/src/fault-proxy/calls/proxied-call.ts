import { z } from "zod";

/** A request, with the terms of Kubernetes' RequestInfo (k8s.io/apiserver/pkg/endpoints/request). */
export interface ProxiedCall {
  /** 1, 2, ...: in the order in which the proxy had received the requests, with their bodies if these are small. */
  readonly id: number;
  /** The number of the process that sends it: the first one behind the proxy's own address is 1. */
  readonly life: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /**
   * `other` for calls that name no resource: discovery, health, and every call to a server other than an API server.
   */
  readonly verb: Verb;
  /** The plural and its group, `configmaps`, `deployments.apps`; empty if the call names none. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** True if it changes the server's data: not for reads, dry runs, and reviews, which only ask. */
  readonly isWrite: boolean;
  /** Its JSON body, or the fields of its form, if that is small. */
  readonly body?: unknown;
}

export const verbs = [
  ...(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const),
  "other",
] as const;
export type Verb = (typeof verbs)[number];

/** An incoming request. */
export interface IncomingCall extends Pick<ProxiedCall, "id" | "life" | "method" | "body"> {
  /** Path and query. */
  readonly url: string;
}

export function parseCall({ id, life, method, url, body }: IncomingCall): ProxiedCall {
  const { pathname: path, searchParams: query } = new URL(url, "http://server");
  const about = resourceOf(path);
  const isWatch = isTrue(query.get("watch")) || legacyWatch.test(path);
  const verb = verbOf(method, about, isWatch);
  return {
    id,
    life,
    method,
    path,
    query: query.toString(),
    verb,
    ...about,
    // A watch of a single object is a request for its collection, with the name in the field selector.
    name: about.name === "" && verb !== "create" ? selectedName(query) : about.name,
    isWrite: isWrite(method, about) && !isDryRun(query, body) && !isQuery(body),
    ...(body === undefined ? {} : { body }),
  };
}

const namedSchema = z.object({ metadata: z.object({ name: z.string() }) });

/** The name of the object that a call is about. For an object to be created it is in the body. */
export const nameIn = ({ name, body }: ProxiedCall): string =>
  name === "" ? (namedSchema.safeParse(body).data?.metadata.name ?? "") : name;

type CallTarget = Pick<ProxiedCall, "resource" | "subresource" | "namespace" | "name">;

/** The path of a watch from before the parameter `watch` existed. */
const legacyWatch = /^\/(api|apis\/[^/]+)\/[^/]+\/watch\//;
/** Path segments after the name of a namespace that are not resources in it. */
const ofNamespaces = ["status", "finalize"];

function resourceOf(path: string): CallTarget {
  const [root, ...parts] = path
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
  const group = root === "apis" ? parts.shift() : root === "api" ? "" : undefined;
  const version = parts.shift();
  if (legacyWatch.test(path)) parts.shift();
  const [first, namespaceName, third] = parts;
  const namespace = first === "namespaces" ? (namespaceName ?? "") : "";
  const isInside = first === "namespaces" && third !== undefined && !ofNamespaces.includes(third);
  const [plural = "", name = "", subresource = ""] = isInside ? parts.slice(2) : parts;
  if (group === undefined || version === undefined || plural === "")
    return { resource: "", subresource: "", namespace: "", name: "" };
  return { resource: group === "" ? plural : `${plural}.${group}`, subresource, namespace, name };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const selectedName = (query: URLSearchParams): string =>
  /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get("fieldSelector") ?? "")?.[1] ?? "";

function verbOf(method: string, { resource, name }: CallTarget, isWatch: boolean): Verb {
  if (resource === "") return "other";
  const [read, deletion] =
    name === "" ? ([isWatch ? "watch" : "list", "deletecollection"] as const) : (["get", "delete"] as const);
  if (method === "GET" || method === "HEAD") return read;
  return method === "DELETE" ? deletion : (changing.get(method) ?? "other");
}

const changing: ReadonlyMap<string, Verb> = new Map([
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
]);

const isTrue = (value: string | null): boolean => value === "true" || value === "1";

const reading = ["GET", "HEAD", "OPTIONS"];
/** Resources that are created, but not stored: TokenReview, SubjectAccessReview and their like. */
const review = /reviews\.(authentication|authorization)\.k8s\.io$/;

const isWrite = (method: string, { resource, subresource }: CallTarget): boolean =>
  !reading.includes(method) &&
  !review.test(resource) &&
  !(resource === "serviceaccounts" && subresource === "token");

const querySchema = z.object({ Action: z.string(), Version: z.string() });

/** The action of a call in the query protocol of AWS, in which every call is a POST. Undefined for other calls. */
export const actionIn = (body: unknown): string | undefined => querySchema.safeParse(body).data?.Action;

const isQuery = (body: unknown): boolean => /^(Describe|Get|List)/.test(actionIn(body) ?? "");

function isDryRun(query: URLSearchParams, body: unknown): boolean {
  if ((query.get("dryRun") ?? "") !== "") return true;
  // A deletion may have `dryRun` in its options, which are its body.
  if (typeof body !== "object" || body === null || !("kind" in body && body.kind === "DeleteOptions"))
    return false;
  return "dryRun" in body && Array.isArray(body.dryRun) && body.dryRun.length > 0;
}
