import {
  type Child,
  type ChildObject,
  maxChildren,
  messageOf,
  objectKey,
  type OwnedKind,
  RetryError,
  settledChildSchema,
} from "@drover/controller";
import { apiVersionOf, type NewObject, refOf } from "@drover/kube";
import { z } from "zod";
import { childId, type DesiredChild, titleOf } from "./child.ts";
import { withMarks } from "./marks.ts";
import { isElsewhere, type Parent, parentNamedIn } from "./parent.ts";

/** Most characters of the declared children as JSON. A run reads four times as much. */
const maxSize = 4 * 2 ** 20;

/**
 * Checks the children that a function has declared, and adds namespace and marks.
 *
 * @throws RetryError `InvalidResult` with the position of the child and the problem: a corrected function continues.
 */
export function checkedChildren(parent: Parent, children: readonly Child[]): readonly DesiredChild[] {
  if (children.length > maxChildren)
    throw invalid(
      "The function",
      `declares ${children.length} children; at most ${maxChildren} are possible.`,
    );
  const checked = children.map((child, i) => checkedChild(parent, child, `children[${i}]`));
  const ids = new Set<string>();
  for (const child of checked) {
    const id = childId(child);
    if (ids.has(id))
      throw invalid(titleOf(child.ref, child.object), "is declared twice. Give each child its own name.");
    ids.add(id);
  }
  const size = checked.reduce((sum, child) => sum + child.size, 0);
  if (size > maxSize)
    throw invalid(
      "The function",
      `declares children of ${Math.ceil(size / 2 ** 20)} MiB; at most ${maxSize / 2 ** 20} MiB are possible.`,
    );
  return checked;
}

function checkedChild(parent: Parent, child: Child, where: string): DesiredChild {
  const given = isSettled(child) ? withoutNothing(child, where) : { object: withoutNothing(child, where) };
  const parsed = settledChildSchema.safeParse(given);
  if (!parsed.success) throw invalid(where, `is not valid: ${z.prettifyError(parsed.error)}`);
  const { object, ...policies } = parsed.data;
  const owned = ownedKind(parent, object, where);
  const ref = refOf(owned.kind);
  const namespace = namespaceOf(parent, owned, object.metadata, where);
  const metadata = { ...object.metadata, ...(namespace !== undefined && { namespace }) };
  const plain =
    ref.group === "" && ref.kind === "Secret" ? withData({ ...object, metadata }) : { ...object, metadata };
  const isOwned = policies.deletion === "Delete" && !isElsewhere(parent, namespace);
  const marks = {
    labels: parent.labels,
    deletion: policies.deletion,
    ...(!isOwned && { parent: parentNamedIn(parent, namespace) }),
  };
  return { ref, key: keyIn(metadata, where), isOwned, ...policies, ...withMarks(plain, marks) };
}

/** JavaScript code may return anything. */
const isSettled = (child: unknown): boolean =>
  typeof child === "object" && child !== null && "object" in child;

function ownedKind({ owns }: Parent, { apiVersion, kind }: ChildObject, where: string): OwnedKind {
  const found = owns.find(
    (owned) => owned.kind.kind === kind && apiVersionOf(refOf(owned.kind)) === apiVersion,
  );
  if (found !== undefined) return found;
  const all = owns.map((owned) => `${apiVersionOf(refOf(owned.kind))} ${owned.kind.kind}`).join(", ");
  throw invalid(
    where,
    `is of the kind ${apiVersion} ${kind}, which the controller does not own. It owns ${all}.`,
  );
}

function namespaceOf(
  { metadata: parent }: Parent,
  { kind: { kind, scope }, acrossNamespaces = false, namespaces }: OwnedKind,
  { namespace }: { readonly namespace?: string | undefined },
  where: string,
): string | undefined {
  if (scope === "Cluster" && parent.namespace !== undefined && !acrossNamespaces)
    throw invalid(
      where,
      `is cluster-scoped, and its parent is not: set acrossNamespaces in owns for ${kind}, or declare another child.`,
    );
  if (scope === "Cluster") {
    if (namespace === undefined) return undefined;
    throw invalid(where, `is cluster-scoped: leave out its namespace, ${namespace}.`);
  }
  const wanted = namespace ?? parent.namespace;
  if (wanted === undefined)
    throw invalid(where, "needs metadata.namespace, since its parent is cluster-scoped.");
  if (parent.namespace !== undefined && !acrossNamespaces && wanted !== parent.namespace)
    throw invalid(
      where,
      `is in the namespace ${wanted}, and its parent is in ${parent.namespace}: leave namespace out, or set acrossNamespaces ` +
        `in owns for ${kind}.`,
    );
  if (namespaces === undefined || namespaces.includes(wanted)) return wanted;
  throw invalid(
    where,
    `is in the namespace ${wanted}, which is not among the namespaces in owns for ${kind}.`,
  );
}

function keyIn(metadata: { readonly name: string; readonly namespace?: string | undefined }, where: string) {
  try {
    return objectKey(metadata);
  } catch (error) {
    throw invalid(where, `has no valid name: ${messageOf(error)}`);
  }
}

const invalid = (where: string, problem: string): RetryError =>
  new RetryError(`${where} ${problem}`, { reason: "InvalidResult" });

/** `stringData` is never read back: the API server keeps it in `data`, as base64. */
function withData({ stringData, ...secret }: NewObject): NewObject {
  const texts = z.record(z.string(), z.string()).safeParse(stringData ?? {});
  if (!texts.success) return { ...secret, stringData };
  const data = Object.fromEntries(
    Object.entries(texts.data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
  return { ...secret, data: { ...z.looseObject({}).catch({}).parse(secret["data"]), ...data } };
}

/**
 * The value without fields that are undefined or null: an apply has no other way to leave a field out.
 *
 * @throws RetryError for a value that JSON does not have: it would be lost.
 */
function withoutNothing(value: unknown, where: string): unknown {
  if (Array.isArray(value)) return value.map((item, i) => withoutNothing(item, `${where}[${i}]`));
  if (typeof value !== "object" || value === null) {
    const isJson =
      typeof value === "number" ? Number.isFinite(value) : !["function", "symbol"].includes(typeof value);
    if (isJson) return value;
    throw invalid(
      where,
      `is ${typeof value === "number" ? String(value) : `a ${typeof value}`}, which JSON does not have.`,
    );
  }
  if (![Object.prototype, null].includes(Reflect.getPrototypeOf(value)))
    throw invalid(where, `is a ${value.constructor.name}, which JSON does not have. Declare a plain object.`);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined && part !== null)
      .map(([name, part]) => [name, withoutNothing(part, `${where}.${name}`)]),
  );
}
