import type { Controller } from "./controller.ts";
import { durationOf } from "./duration.ts";
import { leastPermissions, type Permissions, withPermissions } from "./least-permissions.ts";
import {
  type Deployment,
  reconcileFunctionOf,
  type ReconcileFunctionManifest,
} from "./reconcile-function.ts";
import type { Resource } from "./resource.ts";

/**
 * A controller and how it is deployed: what the module exports by default that `drover generate` reads
 * (`src/function.ts`).
 */
export interface DeployableFunction<R extends Resource = Resource> {
  readonly controller: Controller<R>;
  /** The namespace that it is deployed to. Left out: the one that `drover deploy` is told. */
  readonly namespace?: string;
  /** Its runs call `readSecret`: for any Secret beside the object, or for these names. Default: they do not. */
  readonly readsSecrets?: boolean | readonly string[];
  /**
   * Container, scaling and what else is no word of the code. What it says of pace goes before what the code says, and
   * its permissions are added to those that follow from the code.
   */
  readonly deployment?: Deployment;
}

/** Say how a controller is deployed. Answers its argument; it is there for its type. */
export const defineFunction = <R extends Resource>(
  definition: DeployableFunction<R>,
): DeployableFunction<R> => definition;

/**
 * The permissions of the ServiceAccount of a function whose Pods call the API server: those that follow from its code, and those that
 * its deployment names. The testing kit grants the same.
 */
export const grantedPermissions = <R extends Resource>({
  controller,
  namespace,
  readsSecrets,
  deployment,
}: DeployableFunction<R>): Permissions =>
  withPermissions(leastPermissions(controller, { namespace, readsSecrets }), deployment?.permissions);

/**
 * The ReconcileFunction that deploys a function: all that the code says of its pace, and the least permissions.
 * A function that somebody else runs (no container), or that the gateway calls, is given none but its own.
 *
 * @throws ZodError for a deployment that is none.
 */
export function functionManifestOf<R extends Resource>(
  definition: DeployableFunction<R>,
): ReconcileFunctionManifest {
  const { controller, namespace, deployment = {} } = definition;
  const { container, delivery = "pull", permissions: more } = deployment;
  const asksItself = container !== undefined && delivery === "pull";
  const permissions = asksItself ? grantedPermissions(definition) : withPermissions({}, more);
  const manifest = reconcileFunctionOf(controller, {
    ...paceOf(controller),
    ...deployment,
    ...(Object.keys(permissions).length > 0 && { permissions }),
  });
  return namespace === undefined
    ? manifest
    : { ...manifest, metadata: { name: manifest.metadata.name, namespace } };
}

/** As the code has it; accounts are known to the code alone. */
function paceOf<R extends Resource>({
  resyncEvery,
  concurrency,
  timeout,
  retry: { first, longest, attempts },
  limits: { runs },
}: Controller<R>): Deployment {
  return {
    resyncEvery: durationOf(resyncEvery),
    concurrency,
    timeout: durationOf(timeout),
    retry: {
      first: durationOf(first),
      longest: durationOf(longest),
      ...(attempts !== undefined && { attempts }),
    },
    ...(runs !== undefined && { limits: { runs: { ...runs } } }),
  };
}
