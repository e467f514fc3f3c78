// Where requests meet managedFields: under which name one writes, and what its endpoint leaves alone.
import { timestamp } from "./admission.ts";
import type { Cluster } from "./cluster.ts";
import { forbidden, invalid, required, tooLong, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import type { FieldSet } from "./field-sets.ts";
import { setOf } from "./field-sets.ts";
import { field, isArray, objectAt, textsAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { withMeta } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { entriesOf, isReset, ownersAfterUpdate, ownersIn } from "./managed-fields.ts";
import type { Occasion, Owners } from "./managed-fields.ts";
import { mergeSchemaOf } from "./merge-schema.ts";
import { isTyped } from "./structured-compare.ts";
import { apiVersionOf } from "./resource-type.ts";
import type { ResourceType } from "./resource-type.ts";

const longestManager = 128;
const unprintable = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

function nameErrors(manager: string): FieldError[] {
  const tooMany = Buffer.byteLength(manager) > longestManager;
  let position = 0;
  const odd = Array.from(manager).flatMap((letter) => {
    const at = position;
    position += Buffer.byteLength(letter);
    const point = letter.codePointAt(0) ?? 0;
    const shown = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
    return when(
      unprintable.test(letter),
      invalid("fieldManager", manager, `invalid character ${shown} (at position ${at})`),
    );
  });
  return [...when(tooMany, tooLong("fieldManager", longestManager)), ...odd];
}

/** A client's name: its user agent up to the first slash, without what cannot be printed. */
const fromUserAgent = (agent: string): string =>
  Array.from(agent.split("/")[0] ?? "")
    .filter((letter) => !unprintable.test(letter))
    .join("")
    .slice(0, longestManager);

/** What is wrong with the options of a `kind` of write about who writes. */
export function managerErrors(
  query: URLSearchParams,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions" | "apply",
): FieldError[] {
  const manager = query.get("fieldManager") ?? "";
  return [
    ...when(kind === "apply" && manager === "", required("fieldManager", "is required for apply patch")),
    ...when(
      kind === "PatchOptions" && query.has("force"),
      forbidden("force", "may not be specified for non-apply patch"),
    ),
    ...nameErrors(manager),
  ];
}

/** Under which name a request writes. */
export const managerOf = (query: URLSearchParams, userAgent: string): string =>
  query.get("fieldManager") || fromUserAgent(userAgent);

const status: FieldSet = setOf([["f:status"]]);
const specAnd = (kept: readonly string[] = []): FieldSet =>
  setOf([["f:spec"], ...kept.map((one) => ["f:metadata", `f:${one}`])]);
const specAndMetadata: FieldSet = setOf([["f:spec"], ["f:metadata"]]);

/** Fields that an endpoint does not write, whatever is sent. */
function ignoredBy({ status: split, custom, behaviour }: ResourceType, subresource: string): FieldSet {
  if (subresource === "finalize") return status;
  if (subresource !== "") return custom ? specAndMetadata : specAnd(behaviour.statusKeeps);
  return split ? status : {};
}

export interface Writing {
  readonly type: ResourceType;
  readonly subresource: string;
}

export function occasionFor(cluster: Cluster, { type, subresource }: Writing, manager: string): Occasion {
  return {
    schema: mergeSchemaOf(type),
    apiVersion: apiVersionOf(type),
    subresource,
    manager,
    now: timestamp(cluster.now()),
    ignored: ignoredBy(type, subresource),
    isServed: (apiVersion) =>
      cluster.types().some((one) => one.bucket === type.bucket && apiVersionOf(one) === apiVersion),
  };
}

/** What Go's zero value of a struct shows: structs in it, zeroes that are not left out, nulls for what is required. */
function emptyStruct(schema: Json | undefined): JsonObject {
  const needed = textsAt(schema, "required");
  return Object.fromEntries(
    Object.entries(objectAt(schema, "properties")).flatMap(([key, of]): [string, Json][] => {
      if (field(of, "x-drover-always") === true) return [[key, emptyStruct(of)]];
      const zero = field(of, "default");
      if (zero === null || zero === "" || zero === 0) return [[key, zero]];
      return needed.includes(key) ? [[key, null]] : [];
    }),
  );
}

/** An object of the type before anybody said anything about it. */
export const emptyObject = (type: ResourceType): JsonObject => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  ...(type.custom ? {} : { metadata: {}, ...emptyStruct(type.schema) }),
});

export const withoutManaged = (object: KubeObject): KubeObject =>
  withMeta(object, "managedFields", undefined);
export const withOwners = (object: KubeObject, owners: Owners): KubeObject =>
  withMeta(object, "managedFields", entriesOf(owners));
export const ownersOf = ({ metadata }: KubeObject): Owners => ownersIn(metadata) ?? new Map();

/** Who owned what, as a request sees it: it may bring entries of its own, or ask for none. Subresources may not. */
function ownersBefore(
  live: KubeObject | undefined,
  body: Json,
  { type, subresource }: Writing,
): Owners | undefined {
  const [given, known] = [field(body, "metadata", "managedFields"), live ? ownersOf(live) : new Map()];
  if (subresource !== "" || !isArray(given)) return known;
  // Of custom resources an empty list is lost before anybody sees it.
  if (isReset(given) && !(type.custom && given.length === 0)) return new Map();
  const owners = ownersIn({ managedFields: given });
  return owners && owners.size > 0 ? owners : known;
}

/**
 * Whether the schema of the kind, and of each version in which something is owned, is one for all that is there: where
 * one is not, a real server cannot compare, and forgets all owners.
 */
function readInAll(
  cluster: Cluster,
  type: ResourceType,
  owners: Owners,
  ...objects: readonly (KubeObject | undefined)[]
): boolean {
  const versions = new Set([...owners.values()].map(({ apiVersion }) => apiVersion));
  versions.add(apiVersionOf(type));
  return cluster
    .types()
    .filter((one) => type.custom && one.bucket === type.bucket && versions.has(apiVersionOf(one)))
    .every((one) => objects.every((object) => !object || isTyped(mergeSchemaOf(one), object)));
}

/**
 * Who owns what after `next`, which came in as `body`, replaced `live` (undefined: is created). Objects of which
 * nothing is known stay so until something is applied on them.
 */
export function ownersAfter(
  cluster: Cluster,
  writing: Writing,
  {
    live,
    next,
    body,
    manager,
  }: { live: KubeObject | undefined; next: KubeObject; body: Json; manager: string },
): Owners {
  const owners = ownersBefore(live, body, writing) ?? new Map();
  if (live && owners.size === 0) return owners;
  if (!readInAll(cluster, writing.type, owners, live, next)) return new Map();
  const before = live ?? emptyObject(writing.type);
  return ownersAfterUpdate(occasionFor(cluster, writing, manager), before, next, owners);
}
