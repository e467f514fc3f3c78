import {
  type Compose,
  type Controller,
  type ControllerDefinition,
  controllerFrom,
  type ReconcileContext,
  type RelatedInCode,
  type RelatedKind,
  type Resource,
} from "@drover/controller";
import { mayBeUnowned, openComposer } from "./composer.ts";

/** An author's definition of a controller that declares children. */
export interface ComposeDefinition<R extends Resource> extends Omit<
  ControllerDefinition<R>,
  "reconcile" | "whileDeleting"
> {
  readonly owns: NonNullable<ControllerDefinition<R>["owns"]>;
  /** Kinds with objects that `compose` reads. */
  readonly related?: readonly RelatedDefinition<R>[];
  readonly compose: Compose<R>;
}

/** Objects that `compose` reads: they are read live for each run, and a change of one causes a run. */
export type RelatedDefinition<R extends Resource> = Omit<RelatedKind, "names" | "related"> & {
  /**
   * Which objects: `referencedBy`, `selectedBy` and so on, as for `watches`; or code that returns their names, in the
   * namespace of the object. With code, a change of any object of the kind in that namespace causes a run.
   */
  readonly names: Exclude<RelatedKind["names"], RelatedInCode> | RelatedNames<R>;
};

/** Returns the names of objects, in the namespace of the object; `namespace/name` if that is cluster-scoped. */
export type RelatedNames<R extends Resource> = (
  object: Pick<ReconcileContext<R>, "metadata" | "spec" | "status">,
) => readonly string[];

/**
 * Defines a controller that declares children, and leaves it to Drover to create, change and delete them.
 *
 * A run that finds everything as declared writes nothing; with `copies` of the owned kinds and of the object itself, it
 * often reads nothing either.
 *
 * @throws InvalidControllerError with the field, the problem and the accepted values.
 */
export function composeController<R extends Resource>(definition: ComposeDefinition<R>): Controller<R> {
  const { related = [], watches = [], owns, finalize } = definition;
  const isUnownable = mayBeUnowned(owns);
  const own: Controller<R> = controllerFrom<R>({
    ...definition,
    ...((finalize !== undefined || isUnownable) && {
      async finalize(context) {
        await finalize?.call(definition, context);
        await composer.finalize(context);
      },
    }),
    ...(isUnownable && { needsFinalizer: () => true }),
    watches: [...watches, ...related.map((one) => ({ ...one, related: true }) as RelatedKind)],
    reconcile: (context) => composer.reconcile(context, (composing) => definition.compose(composing)),
  });
  const composer = openComposer<R>(own);
  return { ...own, compose: definition.compose };
}
