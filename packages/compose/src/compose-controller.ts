import {
  type Compose,
  composeContext,
  type Controller,
  type ControllerDefinition,
  controllerFrom,
  type Resource,
} from "@drover/controller";
import { openComposer } from "./composer.ts";

/** An author's definition of a controller that declares children. */
export interface ComposeDefinition<R extends Resource> extends Omit<
  ControllerDefinition<R>,
  "reconcile" | "finalize" | "needsFinalizer" | "whileDeleting"
> {
  readonly owns: NonNullable<ControllerDefinition<R>["owns"]>;
  readonly compose: Compose<R>;
}

/**
 * Defines a controller that declares children, and leaves it to Drover to create, change and delete them.
 *
 * A run that finds everything as declared writes nothing; with `copies` of the owned kinds and of the object itself, it
 * often reads nothing either.
 *
 * @throws InvalidControllerError with the field, the problem and the accepted values.
 */
export function composeController<R extends Resource>(definition: ComposeDefinition<R>): Controller<R> {
  const own: Controller<R> = controllerFrom<R>({
    ...definition,
    reconcile: (context) =>
      composer.reconcile(context, (children) => definition.compose(composeContext(context, children))),
  });
  const composer = openComposer<R>(own);
  return { ...own, compose: definition.compose };
}
