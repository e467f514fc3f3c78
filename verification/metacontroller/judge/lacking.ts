import { isControlledBy, type KubeObject } from "@drover/kube";
import { equal, type Json } from "../../../packages/sandbox/src/json.ts";
import { type ChildId, childId, isChildKind } from "../histories/actions.ts";
import { type Expected, stuckIn } from "../histories/expected.ts";
import { asJson, leavesOf } from "./canonical.ts";

/** The server writes some quantities in another way. */
const quantities: Readonly<Record<string, string>> = { "1000m": "1", "0.5": "500m" };

const asWritten = (path: string, value: Json): Json =>
  path.includes(".resources.") && typeof value === "string" ? (quantities[value] ?? value) : value;

/** True if the server leaves the field out, since it is empty. */
const isLeftOut = (path: string, value: Json): boolean =>
  value === "" && /\.env\[[^\]]+\]\.value$/.test(path);

/** The path of a declared field that a child does not have with this value. */
function wrongField(live: KubeObject, declared: Json): string | undefined {
  const fields = leavesOf(asJson(live));
  for (const [path, value] of leavesOf(declared))
    if (!isLeftOut(path, value) && !equal(fields.get(path), asWritten(path, value))) return path;
  return undefined;
}

/**
 * What a namespace still lacks, for people; undefined if everything is as declared. Children that are stuck are not
 * looked at, and with one of them, others may not be deleted yet.
 *
 * @param parentGroup the API group of the parents.
 */
export function lackingIn(
  objects: readonly KubeObject[],
  expected: Expected,
  parentGroup: string,
): string | undefined {
  const parents = objects.filter(({ apiVersion }) => apiVersion.startsWith(`${parentGroup}/`));
  const children = objects.filter(
    ({ kind, metadata }) => isChildKind(kind) && ownerOf(metadata, parentGroup),
  );
  const [parent] = parents;
  if (!expected.parent) {
    const left = [parent, ...children].find((one) => one !== undefined);
    return left === undefined ? undefined : `${left.kind}/${left.metadata.name} is not deleted`;
  }
  if (parent === undefined) return "there is no parent";
  const stuck = stuckIn(expected);
  const declared = new Map(expected.declared.map((one) => [childId(one), one]));
  for (const [id, one] of declared) {
    if (stuck.includes(id)) continue;
    const why = lackOf(
      objects.find((object) => isChild(object, id)),
      one,
      parent,
    );
    if (why !== undefined) return `${id} ${why}`;
  }
  if (stuck.length > 0) return undefined;
  const extra = children.map((child) => childId(asJson(child))).find((id) => !declared.has(id));
  return extra === undefined ? undefined : `${extra} is not deleted`;
}

const ownerOf = ({ ownerReferences = [] }: KubeObject["metadata"], group: string): boolean =>
  ownerReferences.some(({ apiVersion }) => apiVersion.startsWith(`${group}/`));

const isChild = (object: KubeObject, id: ChildId): boolean =>
  isChildKind(object.kind) && childId(asJson(object)) === id;

function lackOf(live: KubeObject | undefined, declared: Json, parent: KubeObject): string | undefined {
  if (live === undefined) return "is not created";
  if (live.metadata.deletionTimestamp !== undefined) return "is being deleted";
  if (!isControlledBy(live.metadata, parent.metadata)) return "is not controlled by the parent";
  const wrong = wrongField(live, declared);
  return wrong === undefined ? undefined : `is not as declared at ${wrong}`;
}
