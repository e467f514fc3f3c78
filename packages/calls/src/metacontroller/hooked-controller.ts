import type { Composer } from "@drover/compose";
import {
  type Controller,
  type Observed,
  type ReconcileContext,
  type RelatedKind,
  type Resource,
  RetryAfterError,
} from "@drover/controller";
import { canonicalJson } from "@drover/json";
import { type KubeObject, refOf } from "@drover/kube";
import { customizeRequest, type HookedFunction, syncRequest } from "./hook-request.ts";
import { type HookResult, type Marks, readHookResult, readRelatedKinds } from "./hook-response.ts";
import type { HookName, MetacontrollerHooks } from "./hooks.ts";

/** Calls one hook, and returns the body of its answer. */
export type CallHook = (
  hook: HookName,
  context: ReconcileContext<Resource>,
  request: object,
) => Promise<Uint8Array>;

export interface HookedParts {
  readonly fn: HookedFunction;
  readonly hooks: MetacontrollerHooks;
  readonly composer: Composer<Resource>;
  readonly call: CallHook;
}

/** How soon an object that its hook has not finalized is looked at again: a change of a child causes a run in any case. */
const finalizeInterval = "1m" as const;

/**
 * A controller whose decisions are those of hooks that were written for Metacontroller.
 *
 * @see https://metacontroller.github.io/metacontroller/api/hook.html
 */
export const hookedController = (base: Controller, parts: HookedParts): Controller => ({
  ...base,
  async reconcile(context) {
    const related = await relatedKinds(parts, context);
    return parts.composer.reconcile(
      context,
      async (observed) => {
        const result = await sync(parts, "sync", { context, related, observed });
        if (parts.hooks.controller === "Decorator") await decorate(context, parts.fn, result);
        const { children, status = {}, conditions, requeueAfter } = result;
        return { children, status, conditions, ...(requeueAfter !== undefined && { requeueAfter }) };
      },
      related,
    );
  },
  async finalize(context) {
    if (parts.hooks.paths.finalize !== undefined) await finalize(parts, context);
    await parts.composer.finalize(context);
  },
});

/** The kinds of this run's related objects: the customize hook replaces those that the declaration leaves to it. */
async function relatedKinds(
  { fn, hooks, call }: HookedParts,
  context: ReconcileContext<Resource>,
): Promise<readonly RelatedKind[]> {
  const inCode = fn.related.filter(({ names }) => isNamedByHook(names));
  const declared = fn.related.filter(({ names }) => !isNamedByHook(names));
  if (hooks.paths.customize === undefined) return declared;
  const body = await call("customize", context, customizeRequest({ fn, hooks, context }));
  return [...declared, ...readRelatedKinds(inCode, context.metadata, body)];
}

const isNamedByHook = (names: RelatedKind["names"]): boolean =>
  typeof names !== "function" && "code" in names && names.code === true;

interface HookRun {
  readonly context: ReconcileContext<Resource>;
  readonly related: readonly RelatedKind[];
  readonly observed: Observed;
}

async function sync(
  { fn, hooks, call }: HookedParts,
  hook: "sync" | "finalize",
  { context, related, observed }: HookRun,
): Promise<HookResult> {
  const isFinalizing = hook === "finalize";
  const request = syncRequest({ fn, hooks, context, related }, observed, isFinalizing);
  return readHookResult(hooks, await call(hook, context, request), isFinalizing);
}

/**
 * Calls the finalize hook, and makes the children that it still declares. Not so if the garbage collector is at work on
 * them: the object is deleted in the foreground, or its children are to be orphaned.
 *
 * @throws RetryAfterError until the hook answers `finalized`.
 */
async function finalize(parts: HookedParts, context: ReconcileContext<Resource>): Promise<void> {
  const { composer, hooks, fn } = parts;
  const related = await relatedKinds(parts, context);
  const answers: HookResult[] = [];
  const ask = async (observed: Observed): Promise<HookResult> => {
    const result = await sync(parts, "finalize", { context, related, observed });
    if (hooks.controller === "Decorator" && !result.finalized) await decorate(context, fn, result);
    answers.push(result);
    return result;
  };
  if (hasCollectorsFinalizer(context)) {
    await ask(await composer.observe(context, related));
  } else {
    const { failure } = await composer.reconcile(
      context,
      async (observed) => ({ children: (await ask(observed)).children }),
      related,
    );
    if (failure !== undefined) throw failure;
  }
  const [answer] = answers;
  if (answer?.finalized === true) return;
  throw new RetryAfterError("The finalize hook has not answered finalized yet.", {
    after: answer?.requeueAfter ?? finalizeInterval,
    reason: "Finalizing",
  });
}

const hasCollectorsFinalizer = ({ metadata }: ReconcileContext<Resource>): boolean =>
  metadata.finalizers?.some((name) => name === "foregroundDeletion" || name === "orphan") === true;

/** Sets labels, annotations and status of an object of a kind that others define, where they differ. */
async function decorate(
  { client, key, object, metadata, signal }: ReconcileContext<Resource>,
  fn: HookedFunction,
  { labels, annotations, status }: HookResult,
): Promise<void> {
  const ref = refOf(fn.for);
  let { resourceVersion } = metadata;
  if (status !== undefined && canonicalJson(status) !== canonicalJson(object["status"] ?? {})) {
    const written = await client.replace(ref, { ...object, status }, { subresource: "status", signal });
    ({ resourceVersion } = written.metadata);
  }
  const changed = {
    labels: changedMarks(labels, metadata.labels),
    annotations: changedMarks(annotations, metadata.annotations),
  };
  if (Object.keys(changed.labels).length + Object.keys(changed.annotations).length === 0) return;
  const body = { metadata: { resourceVersion, ...changed } };
  await client.patch(ref, key, { type: "merge", body }, { signal });
}

const changedMarks = (wanted: Marks, have: KubeObject["metadata"]["labels"] = {}): Marks =>
  Object.fromEntries(Object.entries(wanted).filter(([name, value]) => (have[name] ?? null) !== value));
