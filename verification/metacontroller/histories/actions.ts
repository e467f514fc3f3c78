// A history as data: the same actions can be carried out for both contestants, and printed.
import { builtin } from "@drover/kube";
import { type JsonObject, type Json, textAt } from "../../../packages/sandbox/src/json.ts";

/** The kinds of children. */
export const childKinds = {
  ConfigMap: builtin.configMap,
  Secret: builtin.secret,
  Service: builtin.service,
  Deployment: builtin.deployment,
} as const;
export type ChildKind = keyof typeof childKinds;

/** A child within its namespace: `ConfigMap/a`. */
export type ChildId = `${ChildKind}/${string}`;

export const isChildKind = (kind: string): kind is ChildKind => Object.hasOwn(childKinds, kind);

export function childId(object: Json): ChildId {
  const kind = textAt(object, "kind") ?? "";
  if (isChildKind(kind)) return `${kind}/${textAt(object, "metadata", "name") ?? ""}`;
  throw new Error(`${kind} is not a kind of children.`);
}

export function partsOf(id: ChildId): { readonly kind: ChildKind; readonly name: string } {
  const [kind = "", name = ""] = id.split("/");
  if (isChildKind(kind)) return { kind, name };
  throw new Error(`${id} is not a child.`);
}

/** A place in an object. A text is the name of a field; an object is the item of a list that has these fields. */
export type Path = readonly (string | JsonObject)[];

export type Action =
  | { readonly do: "create"; readonly children: readonly JsonObject[] }
  /** The parent declares these children from now on. The API server refuses the children in `refused`. */
  | {
      readonly do: "declare";
      readonly children: readonly JsonObject[];
      readonly refused: readonly ChildId[];
    }
  /** The parent, in the background. */
  | { readonly do: "delete" }
  | { readonly do: "deleteChild"; readonly child: ChildId }
  /** Another manager sets a field of a child; null removes it. */
  | { readonly do: "edit"; readonly child: ChildId; readonly path: Path; readonly value: Json }
  /** An object that is not a child gets a name of children; `owned`: it has another controller. */
  | { readonly do: "take"; readonly object: JsonObject; readonly owned: boolean }
  /** That object is deleted, and the parent is touched. */
  | { readonly do: "free"; readonly child: ChildId }
  /** All processes of both contestants are killed, and started again after the action. */
  | { readonly do: "restart"; readonly meanwhile: Action };

export interface History {
  readonly seed: number;
  readonly actions: readonly Action[];
}

/** An action for people. */
export function shownAction(action: Action): string {
  const { do: verb, ...rest } = action;
  return `${verb} ${JSON.stringify(rest)}`;
}
