import { lastAppliedAnnotation } from "@drover/controller";
import { canonicalJson } from "@drover/json";
import { isSecret, type KubeObject } from "@drover/kube";

/** A field that differs. A value that is absent is left out, and so are those that are `hidden` or `allocated`. */
export interface FieldChange {
  /** Such as `spec.template.spec.containers[web].image`: items with a name are found by it, as in kubectl. */
  readonly path: string;
  readonly does: "appears" | "changes" | "goes";
  readonly before?: unknown;
  readonly after?: unknown;
  /** A value of a Secret: it is never shown. */
  readonly hidden?: true;
  /** The API server chooses it when it stores the object, and another one in each dry run. */
  readonly allocated?: true;
}

/**
 * The fields in which two states of an object differ, without those that the server keeps by itself and without Drover's
 * marks. Of a deletion there are none.
 *
 * @param status if true, the status is compared, else everything else.
 */
export function fieldChanges(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  { status }: { readonly status: boolean },
): readonly FieldChange[] {
  if (after === undefined) return [];
  const [was, is] = [before, after].map((object) => leavesOf(object, status));
  if (was === undefined || is === undefined) return [];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path): readonly FieldChange[] => {
    const [old, now] = [was.get(path), is.get(path)];
    if (path.endsWith(orderSuffix))
      return isReordered(old, now) ? [{ path, does: "changes", before: old, after: now }] : [];
    if (canonicalJson([old]) === canonicalJson([now])) return [];
    const does = old === undefined ? "appears" : now === undefined ? "goes" : "changes";
    if (isSecret(after) && !isPublic(path)) return [{ path, does, hidden: true }];
    if (isAllocated(after, path) && does === "appears" && now !== "None")
      return [{ path, does, allocated: true }];
    return [
      { path, does, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) },
    ];
  });
}

/** Ends the path of a list whose items have names: its value is the list of names. */
const orderSuffix = " (order)";

/** True if the items that both lists have are in another order. An item that comes or goes has fields of its own. */
function isReordered(old: unknown, now: unknown): boolean {
  if (!Array.isArray(old) || !Array.isArray(now)) return false;
  const both = (names: readonly unknown[], others: readonly unknown[]) =>
    names.filter((name) => others.includes(name));
  return canonicalJson(both(old, now)) !== canonicalJson(both(now, old));
}

/** True for the fields of a Secret that contain none of its values. */
const isPublic = (path: string): boolean =>
  /^(type|immutable)$|^metadata\./.test(path) && !path.includes(lastAppliedAnnotation);

const isAllocated = ({ apiVersion, kind }: KubeObject, path: string): boolean =>
  apiVersion === "v1" &&
  kind === "Service" &&
  /^spec\.(clusterIPs?\b|healthCheckNodePort$|ports\[[^\]]*\]\.nodePort$)/.test(path);

type Leaves = ReadonlyMap<string, unknown>;

function leavesOf(object: KubeObject | undefined, ofStatus: boolean): Leaves {
  const leaves = new Map<string, unknown>();
  if (object === undefined) return leaves;
  const { apiVersion: _, kind: __, metadata, status, ...rest } = object;
  if (ofStatus) addLeaves(leaves, "status", status);
  else {
    const { labels, annotations, finalizers, ownerReferences = [] } = metadata;
    const owners = ownerReferences.map((one) => [
      `${one.kind} ${one.name}`,
      one.controller ? "controller" : "owner",
    ]);
    addLeaves(leaves, "metadata", {
      labels,
      annotations,
      finalizers,
      ownerReferences: Object.fromEntries(owners) as object,
    });
    for (const [name, value] of Object.entries(rest)) addLeaves(leaves, name, value);
  }
  for (const path of leaves.keys()) if (isBookkeeping(path)) leaves.delete(path);
  return leaves;
}

/** Fields that follow from the others, or from the time. */
const isBookkeeping = (path: string): boolean =>
  /^metadata\.(labels|annotations)\["drover\.dev\//.test(path) ||
  /^status\.(observedGeneration|conditions\[[^\]]*\]\.(lastTransitionTime|observedGeneration))$/.test(path);

function addLeaves(leaves: Map<string, unknown>, path: string, value: unknown): void {
  if (value === undefined || value === null) return;
  const named = namedItems(value);
  const parts = partsOf(named?.items ?? value, named?.names);
  if (named !== undefined) leaves.set(`${path}${orderSuffix}`, named.names);
  // An empty object or list is no field of its own in metadata: labels that are all gone.
  if (parts === undefined || (parts.length === 0 && !path.startsWith("metadata"))) leaves.set(path, value);
  for (const [part, inner] of parts ?? []) addLeaves(leaves, `${path}${part}`, inner);
}

/** The parts of an object or a list, with their places in the path; undefined for a plain value. */
function partsOf(
  value: unknown,
  names: readonly string[] | undefined,
): readonly (readonly [string, unknown])[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return value.map((item: unknown, i) => [`[${names?.[i] ?? i}]`, item] as const);
  return Object.entries(value).map(([name, part]) => [
    /^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
    part,
  ]);
}

interface NamedItems {
  readonly names: readonly string[];
  /** The items without their names, which are in the path. */
  readonly items: readonly unknown[];
}

/** The items of a list, if each has a name, and another one. */
function namedItems(value: unknown): NamedItems | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  for (const field of ["name", "type"]) {
    const found = value.map((item: unknown) => named(item, field)).filter((item) => item !== undefined);
    const names = found.map(({ name }) => name);
    if (found.length === value.length && new Set(names).size === names.length)
      return { names, items: found.map(({ rest }) => rest) };
  }
  return undefined;
}

function named(item: unknown, field: string): { readonly name: string; readonly rest: unknown } | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { [field]: name, ...rest } = { ...item } as Readonly<Record<string, unknown>>;
  if (typeof name !== "string") return undefined;
  return { name, rest: Object.keys(rest).length === 0 ? item : rest };
}
