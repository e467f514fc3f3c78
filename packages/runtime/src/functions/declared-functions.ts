import { type Log, type ObjectKey, ReconcileFunction, type ReconcileFunctionSpec } from "@drover/controller";
import {
  isObjectEvent,
  keyOf,
  type KubeClient,
  type KubeObject,
  oldestFirst,
  type Reflector,
  type ReflectorEvent,
  refOf,
  runReflector,
} from "@drover/kube";
import { z } from "zod";

/** A ReconcileFunction of the cluster, with its spec, or with the reason why it cannot be used. */
export type DeclaredFunction = { readonly key: ObjectKey; readonly object: KubeObject } & (
  | { readonly spec: ReconcileFunctionSpec; readonly problem?: undefined }
  | { readonly spec?: undefined; readonly problem: string }
);

/**
 * Watches the ReconcileFunctions of the cluster.
 * @param onChange called when all existing ones are known, and with every change after that.
 */
export function followDeclaredFunctions({
  client,
  log,
  signal,
  onChange,
}: {
  client: KubeClient;
  log: Log;
  signal: AbortSignal;
  onChange: (functions: readonly DeclaredFunction[]) => void;
}): Reflector {
  const objects = new Map<ObjectKey, KubeObject>();
  let synced = false;
  const take = (event: ReflectorEvent): void => {
    if (event.type === "synced") synced = true;
    if (!isObjectEvent(event)) return;
    if (event.type === "deleted" || event.object === undefined) objects.delete(event.key);
    else objects.set(event.key, event.object);
  };
  const onEvents = (events: readonly ReflectorEvent[]): void => {
    events.forEach(take);
    if (synced) onChange(declaredFunctions(objects));
  };
  return runReflector({ client, ref: refOf(ReconcileFunction), metadataOnly: false, signal, log, onEvents });
}

/** Oldest first, so that the order is stable. */
export function declaredFunctions(objects: ReadonlyMap<ObjectKey, KubeObject>): readonly DeclaredFunction[] {
  return oldestFirst(objects.values()).map((object): DeclaredFunction => {
    const key = keyOf(object);
    const parsed = ReconcileFunction.spec.safeParse(object["spec"]);
    return parsed.success
      ? { key, object, spec: parsed.data }
      : { key, object, problem: z.prettifyError(parsed.error) };
  });
}
