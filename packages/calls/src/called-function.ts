import { type Composer, openComposer } from "@drover/compose";
import {
  type Controller,
  controllerFrom,
  type Observed,
  type ReconcileContext,
  type Resource,
} from "@drover/controller";
import type { Run } from "@drover/queue";
import type { CallType } from "@drover/webhook";
import { callFunction, type CallResources, guardOfPureCall } from "./call-function.ts";
import { clampWait, type Success } from "./interpret.ts";
import { callHook } from "./metacontroller/call-hook.ts";
import { type CallHook, hookedController } from "./metacontroller/hooked-controller.ts";
import { type MetacontrollerHooks, takesOverOf } from "./metacontroller/hooks.ts";
import { definitionOf } from "./webhook-function.ts";

export interface CalledFunctionParts {
  readonly calling: CallResources;
  /** The address of one of the function's paths: hooks of Metacontroller have one each. */
  readonly targetAt: (path: string) => CallResources["target"];
  /** Wraps each call. */
  readonly measured?: <T>(call: () => Promise<T>) => Promise<T>;
  /** Called in every run of a function that declares children, after these were applied and pruned. */
  readonly onChildren?: Parameters<typeof openComposer>[1];
}

/** A function that is called over HTTP, as controllers. */
export interface CalledFunction {
  /** Its settings: it has no actions. */
  readonly settings: Controller;
  /** The controller of one run. */
  readonly controllerFor: (run: Run) => Controller;
}

/** @throws InvalidControllerError as `readWebhookFunction` reports it. */
export function openCalledFunction({
  calling,
  targetAt,
  measured = (call) => call(),
  onChildren,
}: CalledFunctionParts): CalledFunction {
  const { fn } = calling;
  const definition = definitionOf(fn);
  const settings = controllerFrom({ ...definition, reconcile: () => Promise.resolve(undefined) });
  const hooks = fn.metacontroller;
  const composer = fn.composes
    ? openComposer({ ...settings, takesOver: hooks && takesOverOf(hooks, fn.controller) }, onChildren)
    : undefined;
  const askHook = hooks && hookCaller(hooks, calling, targetAt);
  return {
    settings,
    controllerFor(run) {
      const deadline = calling.now() + settings.timeout;
      const call: Caller = (type, context, observed) => {
        const objects = observed && { children: observed.children.all, related: observed.related.all };
        return measured(() => callFunction(calling, { type, run, context, deadline, ...objects }));
      };
      const needsFinalizer = fn.finalizes || composer?.needsFinalizer === true;
      const base = controllerFrom({ ...definition, ...actions(fn.finalizes, needsFinalizer, call) });
      if (composer === undefined) return base;
      if (hooks === undefined || askHook === undefined) return composed(base, composer, call);
      const ask: CallHook = (...request) => measured(() => askHook(...request));
      return hookedController(base, { fn, hooks, composer, call: ask });
    },
  };
}

/** Calls hooks of Metacontroller, each at its own path. */
function hookCaller(
  { paths }: MetacontrollerHooks,
  { fn, agent, post, now }: CallResources,
  targetAt: CalledFunctionParts["targetAt"],
): CallHook {
  const targets = new Map(Object.entries(paths).map(([hook, path]) => [hook, targetAt(path)]));
  return (hook, context, request) => {
    const target = targets.get(hook);
    if (target === undefined) throw new Error(`There is no ${hook} hook.`);
    const guard = hook === "finalize" ? context.guard : guardOfPureCall(context.guard);
    const { signal } = context;
    return callHook({ target, agent, post, now, scalesToZero: fn.scalesToZero }, { guard, signal }, request);
  };
}

type Caller = (type: CallType, context: ReconcileContext<Resource>, observed?: Observed) => Promise<Success>;

/**
 * A controller of a function that declares children: they are made here, and those are deleted that the garbage
 * collector does not delete.
 */
const composed = (base: Controller, composer: Composer<Resource>, call: Caller): Controller => ({
  ...base,
  async finalize(context) {
    await base.finalize(context);
    await composer.finalize(context);
  },
  reconcile: (context) =>
    composer.reconcile(context, async (observed) => {
      const { children = [], ...result } = await call("dev.drover.compose.v2", context, observed);
      return { children, ...resultOf(result) };
    }),
});

/** A function's success, as the runtime expects it of a controller. */
const resultOf = ({ status, conditions, account, requeueAfter }: Success) => ({
  ...(status !== undefined && { status }),
  ...(conditions !== undefined && { conditions }),
  ...(account !== undefined && { account }),
  ...(requeueAfter !== undefined && { requeueAfter: clampWait(requeueAfter) }),
});

/** The controller's actions. The runtime calls them after it has read the object and added the finalizer. */
function actions(finalizes: boolean, needsFinalizer: boolean, call: Caller) {
  const reconcile = async (context: ReconcileContext<Resource>) => {
    return resultOf(await call("dev.drover.reconcile.v2", context));
  };
  if (!needsFinalizer) return { reconcile };
  const finalize = async (context: ReconcileContext<Resource>): Promise<void> => {
    if (finalizes) await call("dev.drover.finalize.v2", context);
  };
  return { reconcile, finalize };
}
