import type { ReconcileFunctionSpec, SettledChild } from "@drover/controller";
import type { KubeObject } from "@drover/kube";

/** The hooks of a function that was written for Metacontroller, as its ReconcileFunction declares them. */
export interface MetacontrollerHooks {
  readonly controller: "Composite" | "Decorator";
  /** The version of requests and responses. */
  readonly version: "v1" | "v2";
  /** The paths of the hooks. */
  readonly paths: { readonly sync: string; readonly finalize?: string; readonly customize?: string };
  readonly updates: readonly {
    readonly group: string;
    readonly kind: string;
    readonly method: UpdateMethod;
  }[];
  /** True if objects that Metacontroller has made become Drover's children. */
  readonly takeOver: boolean;
}

export type HookName = keyof MetacontrollerHooks["paths"];

type Declared = NonNullable<NonNullable<ReconcileFunctionSpec["webhook"]>["metacontroller"]>;
export type UpdateMethod = NonNullable<Declared["updates"]>[number]["method"];

export const metacontrollerHooks = ({
  controller,
  version = "v1",
  sync,
  finalize,
  customize,
  updates = [],
  takeOver = false,
}: Declared): MetacontrollerHooks => ({
  controller,
  version,
  paths: {
    sync,
    ...(finalize !== undefined && { finalize }),
    ...(customize !== undefined && { customize }),
  },
  updates,
  takeOver,
});

/** The update method of children of a kind: as in Metacontroller, they are not changed unless it is declared. */
export const methodOf = (
  { updates }: Pick<MetacontrollerHooks, "updates">,
  of: { readonly group: string; readonly kind: string },
): UpdateMethod =>
  updates.find(({ group, kind }) => group === of.group && kind === of.kind)?.method ?? "OnDelete";

/** Drover's `update` for each method. */
export const updateOf = {
  OnDelete: "OnDelete",
  Recreate: "Recreate",
  InPlace: "Apply",
  RollingRecreate: "Rolling",
} as const satisfies Readonly<Record<UpdateMethod, SettledChild["update"]>>;

/** The DecoratorController that has attached an object. */
const decoratorAnnotation = "metacontroller.k8s.io/decorator-controller";

/**
 * Which objects become Drover's children, of those that their parent controls: several DecoratorControllers may attach
 * objects to one parent, and each takes over those of the DecoratorController of its own name. Undefined: none.
 */
export function takesOverOf(
  { controller, takeOver }: MetacontrollerHooks,
  name: string,
): ((object: KubeObject) => boolean) | undefined {
  if (!takeOver) return undefined;
  const attachedBy = controller === "Decorator" ? name : undefined;
  return ({ metadata }) => metadata.annotations?.[decoratorAnnotation] === attachedBy;
}
