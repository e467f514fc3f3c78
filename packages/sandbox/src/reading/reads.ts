// get and list, with resourceVersion, limit and continue as in Kubernetes.
import type { Cluster } from "../storage/cluster.ts";
import { forbidden, notSupported } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { field, parseJson, present, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { keyOf, nameOf, namespaceOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { asServed } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import type { Matches } from "./selectors.ts";
import { selectedBy } from "./selectors.ts";
import {
  badRequest,
  expired,
  invalidOptions,
  notFound,
  serverError,
  tooLargeVersion,
} from "../http/status.ts";
import type { Snapshot } from "../storage/store.ts";
import { refuseUnkeyed } from "../writing/writes.ts";
import type { Target } from "../writing/writes.ts";

export interface Listed {
  readonly objects: readonly KubeObject[];
  readonly metadata: JsonObject;
}

/** The resourceVersion of a query, or undefined. If it is not a decimal, throws the error that `refusal` makes. */
export function versionIn(query: URLSearchParams, refusal = badRequest): number | undefined {
  const text = query.get("resourceVersion") ?? "";
  if (/^\d*$/.test(text)) return text === "" ? undefined : Number(text);
  const quoted = JSON.stringify(text);
  const why = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
  throw refusal(refusal === badRequest ? `invalid resource version: ${why}` : why);
}

export function integerIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  if (!/^-?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  if (!Number.isSafeInteger(Number(text)))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return Number(text);
}

/** A flag of a query. Other values than `true` set it, too. */
export const flagIn = (query: URLSearchParams, name: string): boolean =>
  !["", "0", "false"].includes(query.get(name) ?? "") || (query.has(name) && query.get(name) === "");

export const selectorIn = (type: ResourceType, query: URLSearchParams): Matches | undefined =>
  selectedBy(type, query.get("labelSelector") ?? "", query.get("fieldSelector") ?? "");

/** GET of one object. Throws 404, or 504 for a future version. */
export function get(cluster: Cluster, target: Target, query: URLSearchParams): KubeObject {
  const { type, namespace, name } = target;
  refuseFuture(cluster, versionIn(query, serverError));
  refuseUnkeyed(target);
  const object = cluster.store.get(type.bucket, namespace, name);
  if (!object) throw notFound(type, name);
  return asServed(type, object);
}

function refuseFuture(cluster: Cluster, version: number | undefined): void {
  if (version !== undefined && version > cluster.store.version)
    throw tooLargeVersion(version, cluster.store.version);
}

function refuseListOptions(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch") ?? "";
  const errors: FieldError[] = [];
  const no = (why: string): void => void errors.push(forbidden("resourceVersionMatch", why));
  if (match !== "") {
    if (!query.get("resourceVersion"))
      no("resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (query.get("continue")) no("resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan")
      errors.push(notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && query.get("resourceVersion") === "0")
      no('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (query.get("sendInitialEvents"))
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  if (errors.length > 0) throw invalidOptions("ListOptions", errors);
}

/**
 * The position at which a paged list continues: after a key, at the version of its first page (-1: the current one).
 */
interface Position {
  readonly version: number;
  readonly after: string;
}
const tokenOf = ({ version, after }: Position): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: `${after}\0` })).toString(
    "base64url",
  );
function positionIn(token: string): Position {
  const refuse = (why: string): Error =>
    badRequest(`invalid continue token: continue key is not valid: ${why}`);
  if (!/^[\w-]*$/.test(token) || token.length % 4 === 1) throw refuse("illegal base64 data at input byte 0");
  let json: Json;
  try {
    json = parseJson(Buffer.from(token, "base64url").toString());
  } catch {
    throw refuse("it is not JSON");
  }
  const format = textAt(json, "v") ?? "";
  if (format !== "meta.k8s.io/v1") throw refuse(`server does not recognize this encoded version ${format}`);
  const [version, start] = [field(json, "rv"), textAt(json, "start")];
  if (typeof version !== "number" || start === undefined)
    throw badRequest("continue key is not valid: incorrect encoded start resourceVersion");
  return { version, after: start.replace(/\0$/, "") };
}

const goneForPaging =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

function snapshotFor(
  cluster: Cluster,
  type: ResourceType,
  query: URLSearchParams,
  position: Position | undefined,
  limit: number,
): Snapshot {
  const { store } = cluster;
  const asked = versionIn(query);
  if (position) {
    if (asked !== undefined && asked !== 0)
      throw badRequest("specifying resource version is not allowed when using continue");
    const page = position.version < 0 ? store.list(type.bucket) : store.listAt(type.bucket, position.version);
    if (!page) throw expired(goneForPaging, tokenOf({ version: -1, after: position.after }));
    return page;
  }
  refuseFuture(cluster, asked);
  const match = query.get("resourceVersionMatch") ?? "";
  if (asked === undefined || asked === 0 || match === "NotOlderThan" || (match === "" && limit === 0))
    return store.list(type.bucket);
  const exact = store.listAt(type.bucket, asked);
  if (!exact) throw expired(`The resourceVersion for the provided list is too old.`);
  return exact;
}

/** LIST. Throws 400 or 422 for invalid options, 410 for a version that is too old, 504 for a future one. */
export function list(
  cluster: Cluster,
  type: ResourceType,
  namespace: string,
  query: URLSearchParams,
): Listed {
  refuseListOptions(query);
  integerIn(query, "timeoutSeconds");
  const asked = Math.max(0, integerIn(query, "limit") ?? 0);
  // A real server answers a list at version 0 from its cache, which has no pages.
  const limit = query.get("resourceVersion") === "0" ? 0 : asked;
  const matches = selectorIn(type, query);
  const token = query.get("continue") ?? "";
  const position = token === "" ? undefined : positionIn(token);
  const { version, objects } = snapshotFor(cluster, type, query, position, limit);
  const keyed = (object: KubeObject): string => keyOf(namespaceOf(object), nameOf(object));
  const all = objects
    .filter((object) => namespace === "" || namespaceOf(object) === namespace)
    .filter((object) => position === undefined || keyed(object) > position.after);
  const rest = all.map((object) => asServed(type, object)).filter((object) => matches?.(object) ?? true);
  const page = limit > 0 ? rest.slice(0, limit) : rest;
  const last = page.at(-1);
  const isFull = limit > 0 && last !== undefined && page.length === limit;
  // An object after a full page counts even if it is not selected: the server checks it only for the next page.
  const more = isFull && all.some((object) => keyed(object) > keyed(last));
  return {
    objects: page,
    metadata: present({
      resourceVersion: String(version),
      continue: more ? tokenOf({ version, after: keyed(last) }) : undefined,
      remainingItemCount: more && !matches ? rest.length - page.length : undefined,
    }),
  };
}
