// Server-side apply: an applied configuration merged into what is there, fields that it no longer has taken out, and
// conflicts with other managers told. As structured-merge-diff's Updater and apimachinery's managers around it.
import { difference, intersection, isEmptySet, noFields, pathsIn, shownPath, union } from "./field-sets.ts";
import { withoutTrees } from "./field-sets.ts";
import type { FieldPath, FieldSet } from "./field-sets.ts";
import { htmlSafe } from "./go-text.ts";
import { equal, isObject, omit, parseJson, sortedJson, textAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { KubeObject } from "./kube-object.ts";
import { isKubeObject, nameOf, namespaceOf } from "./kube-object.ts";
import { afterChange, comparedFor, idOf, ownersAfterUpdate, withOwner } from "./managed-fields.ts";
import type { Occasion, Owners, Ownership } from "./managed-fields.ts";
import { ApiError, badRequest, serverError } from "./status.ts";
import { applyFault, compared } from "./structured-compare.ts";
import { fieldSetOf, merged, withNamedParents, withoutFields } from "./structured-merge.ts";

export interface Applied {
  /** What is there now, or undefined when applying changed nothing of it. */
  readonly object: JsonObject | undefined;
  readonly owners: Owners;
}

interface Conflict {
  readonly id: string;
  readonly path: FieldPath;
}

class Conflicts extends Error {
  readonly conflicts: readonly Conflict[];
  constructor(conflicts: readonly Conflict[]) {
    super("apply conflicts");
    this.conflicts = conflicts;
  }
}

function shownManager(id: string): string {
  const owner = parseJson(id);
  const [name, subresource] = [textAt(owner, "manager") ?? "", textAt(owner, "subresource")];
  const whole =
    JSON.stringify(name) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : "");
  return textAt(owner, "operation") === "Update"
    ? `${whole} using ${textAt(owner, "apiVersion") ?? ""}`
    : whole;
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${shownManager(first.id)}: ${shownPath(first.path)}`;
  const byManager = Map.groupBy(conflicts, ({ id }) => id);
  const told = [...byManager.keys()]
    .sort()
    .flatMap((id) => [
      `conflicts with ${shownManager(id)}:`,
      ...(byManager.get(id) ?? []).map(({ path }) => `- ${shownPath(path)}`),
    ]);
  return `Apply failed with ${conflicts.length} conflicts: ${told.join("\n")}`;
}

const conflictError = (conflicts: readonly Conflict[]): ApiError =>
  new ApiError(409, "Conflict", conflictMessage(conflicts), {
    causes: conflicts.map(({ id, path }) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${shownManager(id)}`,
      field: shownPath(path),
    })),
  });

/** Takes out what this manager applied before and does not now, unless somebody else owns it. */
function pruned({ schema }: Occasion, whole: Json, owners: Owners, last: Ownership | undefined): Json {
  if (!last || isEmptySet(last.fields)) return whole;
  const named = (set: FieldSet): FieldSet => withNamedParents(schema, set);
  const before = named(last.fields);
  const owned = [...owners.values()].reduce((all, { fields }) => union(all, fields), noFields);
  const everything = named(fieldSetOf(schema, whole));
  const without = (gone: FieldSet): Json => withoutFields(schema, whole, gone);
  const bare = isEmptySet(before) ? whole : without(before);
  const kept = union(named(fieldSetOf(schema, bare)), named(owned));
  const unowned = difference(everything, kept);
  const left = isEmptySet(unowned) ? whole : without(unowned);
  const gone = intersection(difference(everything, named(fieldSetOf(schema, left))), before);
  return isEmptySet(gone) ? whole : without(gone);
}

function applyOnce(
  occasion: Occasion,
  live: JsonObject,
  config: JsonObject,
  owners: Owners,
  force: boolean,
): Applied {
  const { schema, manager, apiVersion, subresource, now, ignored, isServed } = occasion;
  const operation = "Apply" as const;
  const id = idOf({ manager, operation, apiVersion, subresource });
  const last = owners.get(id);
  const fields = withoutTrees(fieldSetOf(schema, config), ignored);
  const self: Ownership = { manager, operation, apiVersion, subresource, time: last?.time, fields };
  const claimed: Owners = new Map([...owners, [id, self]]);
  const next = pruned(occasion, merged(schema, live, config), claimed, last);
  const comparison = comparedFor(occasion, live, next);
  const { left, conflicts } = afterChange(claimed, id, comparison, isServed);
  if (!force && conflicts.size > 0)
    throw new Conflicts(
      [...conflicts].flatMap(([other, contested]) =>
        [...pathsIn(contested)].map((path) => ({ id: other, path })),
      ),
    );
  const same = equal(live, next);
  const settled = withOwner(left, same ? self : { ...self, time: now });
  return { object: same || !isObject(next) ? undefined : next, owners: settled };
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const lastAppliedOf = (object: JsonObject): string =>
  textAt(object, "metadata", "annotations", lastApplied) ?? "";

/** What client-side apply set and nobody changed since: kubectl may take that over without a conflict. */
function takenOver({ schema, apiVersion }: Occasion, live: JsonObject): FieldSet | undefined {
  let config: Json;
  try {
    config = parseJson(lastAppliedOf(live));
  } catch {
    return undefined;
  }
  if (!isObject(config) || textAt(config, "apiVersion") !== apiVersion) return undefined;
  const { added, modified, removed } = compared(schema, config, live);
  return [modified, added, removed].reduce(difference, fieldSetOf(schema, config));
}

function applyAsKubectl(
  occasion: Occasion,
  live: JsonObject,
  config: JsonObject,
  owners: Owners,
  force: boolean,
): Applied {
  try {
    return applyOnce(occasion, live, config, owners, force);
  } catch (error) {
    if (!(error instanceof Conflicts)) throw error;
    const allowed = occasion.manager === "kubectl" ? takenOver(occasion, live) : undefined;
    const left = error.conflicts.filter(({ path }) => !allowed || !pathIsIn(allowed, path));
    if (left.length > 0) throw conflictError(left);
    return applyOnce(occasion, live, config, owners, true);
  }
}

const pathIsIn = (set: FieldSet, path: FieldPath): boolean =>
  [...pathsIn(set)].some((one) => equal(one, path));

/** kubectl's annotation follows what kubectl applies on the server, once it is there. */
function withAnnotation(object: JsonObject, config: JsonObject, manager: string): JsonObject {
  if (manager !== "kubectl" || lastAppliedOf(object) === "") return object;
  const bare = (from: JsonObject): JsonObject => {
    const { metadata } = from;
    const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
    if (!isObject(metadata) || !isObject(annotations)) return from;
    return { ...from, metadata: withField(metadata, "annotations", omit(annotations, lastApplied)) };
  };
  const { metadata } = object;
  if (!isObject(metadata) || !isObject(metadata["annotations"])) return object;
  const value = `${htmlSafe(sortedJson(bare(config)))}\n`;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata["annotations"], [lastApplied]: value } },
  };
}

/** As fmt prints a GroupVersionKind. */
const shownKind = (apiVersion: string, kind: string): string =>
  `${apiVersion.includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`;

/** The applied configuration. Throws 400 for another kind and 500, as Kubernetes does, for what the schema does not know. */
export function configuration({ schema, apiVersion }: Occasion, kind: string, given: Json): KubeObject {
  const body = isObject(given) ? { metadata: {}, ...given } : given;
  if (!isKubeObject(body) || body.apiVersion !== apiVersion || body.kind !== kind) {
    const [version, of] = [textAt(body, "apiVersion") ?? "", textAt(body, "kind") ?? ""];
    throw badRequest(
      of === "" && version === ""
        ? "invalid object type: /, Kind="
        : `invalid object type: ${shownKind(version, of)}`,
    );
  }
  if (Object.hasOwn(body.metadata, "managedFields") && body.metadata["managedFields"] !== null)
    throw badRequest("metadata.managedFields must be nil");
  const fault = applyFault(schema, body);
  if (fault === undefined) return body;
  const who = `${namespaceOf(body)}/${nameOf(body)}; ${shownKind(apiVersion, kind)}`;
  throw serverError(`failed to create typed patch object (${who}): ${fault}`);
}

/**
 * Applies a configuration on an object without its managedFields. Throws 409 with a cause for each field that another
 * manager owns with another value, unless forced.
 */
export function applied(
  occasion: Occasion,
  live: JsonObject,
  config: JsonObject,
  owners: Owners,
  /** What an object of the kind has by itself. */
  empty: JsonObject,
  force: boolean,
): Applied {
  const known =
    owners.size > 0
      ? owners
      : ownersAfterUpdate({ ...occasion, manager: "before-first-apply" }, empty, live, owners);
  const done = applyAsKubectl(occasion, live, config, known, force);
  const object = withAnnotation(done.object ?? live, config, occasion.manager);
  return { object: equal(object, live) ? undefined : object, owners: done.owners };
}
