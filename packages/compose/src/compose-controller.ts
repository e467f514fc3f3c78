import {
  type Controller,
  type ControllerDefinition,
  controllerFrom,
  type ReconcileContext,
  type Resource,
} from "@drover/controller";
import { type ComposeResult, type ObservedChildren, openComposer } from "./composer.ts";

/** The argument of `compose`: the object as it was read, and what exists for it. It has no client: compose only decides. */
export interface ComposeContext<R extends Resource> extends Pick<
  ReconcileContext<R>,
  "key" | "metadata" | "spec" | "status" | "object" | "log" | "now" | "signal"
> {
  readonly children: ObservedChildren;
}

/** An author's definition of a controller that declares children. */
export interface ComposeDefinition<R extends Resource> extends Omit<
  ControllerDefinition<R>,
  "reconcile" | "finalize" | "needsFinalizer" | "whileDeleting"
> {
  readonly owns: NonNullable<ControllerDefinition<R>["owns"]>;
  /**
   * Declares the children of an object. It is called at any time, for any reason, and has no effects of its own.
   *
   * Drover creates and changes them by server-side apply, as the field manager of the controller: fields that others have
   * set and compose does not declare are left alone. If `conditions` has no Ready, Ready is true when all children are
   * ready.
   */
  compose(context: ComposeContext<R>): Promise<ComposeResult<R>> | ComposeResult<R>;
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
  const controller: Controller<R> = controllerFrom<R>({
    ...definition,
    reconcile: (context) =>
      composer.reconcile(context, (children) => {
        const { key, metadata, spec, status, object, log, now, signal } = context;
        return definition.compose({ key, metadata, spec, status, object, log, now, signal, children });
      }),
    finalize: (context) => composer.release(context),
    // The composer adds the finalizer when a child is declared that may outlive its parent.
    needsFinalizer: () => false,
  });
  const composer = openComposer<R>(controller);
  return controller;
}
