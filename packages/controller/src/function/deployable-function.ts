import type { Controller } from "../definition/controller.ts";
import { formatDuration } from "../duration.ts";
import { leastPermissions, type Permissions, withPermissions } from "../access/least-permissions.ts";
import {
  type FunctionDeployment,
  reconcileFunctionOf,
  type ReconcileFunctionManifest,
} from "./reconcile-function-of.ts";
import type { Resource } from "../resource/resource.ts";

/**
 * A controller and its deployment: the default export of the module that `drover generate` reads (`src/function.ts`).
 */
export interface DeployableFunction<R extends Resource = Resource> {
  readonly controller: Controller<R>;
  /** The namespace that it is deployed to. If omitted: the one given to `drover deploy`. */
  readonly namespace?: string;
  /** If its runs call `readSecret`: true for any Secret in the object's namespace, or the names. Default: false. */
  readonly readsSecrets?: boolean | readonly string[];
  /**
   * Container, scaling and other settings that are not in the code. Its pace settings take precedence over those in the
   * code, and its permissions are added to those that follow from the code.
   */
  readonly deployment?: FunctionDeployment;
}

/** Declares how a controller is deployed. Returns its argument: only the type matters. */
export const defineFunction = <R extends Resource>(
  definition: DeployableFunction<R>,
): DeployableFunction<R> => definition;

/**
 * The permissions of the ServiceAccount of a function with Pods that call the API server: those that follow from its
 * code, and those that its deployment lists. The testing kit grants the same.
 */
export const grantedPermissions = <R extends Resource>({
  controller,
  namespace,
  readsSecrets,
  deployment,
}: DeployableFunction<R>): Permissions =>
  withPermissions(leastPermissions(controller, { namespace, readsSecrets }), deployment?.permissions);

/**
 * The ReconcileFunction that deploys a function, with the pace settings of its code and the least permissions. A
 * function without a container, or one that the gateway calls, gets only the permissions that its deployment lists.
 *
 * @throws ZodError for an invalid deployment.
 */
export function functionManifestOf<R extends Resource>(
  definition: DeployableFunction<R>,
): ReconcileFunctionManifest {
  const { controller, namespace, deployment = {} } = definition;
  const { container, delivery = "pull", permissions: more } = deployment;
  const callsApiServer = container !== undefined && delivery === "pull";
  const permissions = callsApiServer ? grantedPermissions(definition) : withPermissions({}, more);
  const manifest = reconcileFunctionOf(controller, {
    ...runSettingsOf(controller),
    ...deployment,
    ...(Object.keys(permissions).length > 0 && { permissions }),
  });
  return namespace === undefined
    ? manifest
    : { ...manifest, metadata: { name: manifest.metadata.name, namespace } };
}

/** The pace settings of the code, without the limits of accounts: only the code has those. */
function runSettingsOf<R extends Resource>({
  resyncEvery,
  concurrency,
  timeout,
  retry: { first, longest, attempts },
  limits: { runs },
}: Controller<R>): FunctionDeployment {
  return {
    resyncEvery: formatDuration(resyncEvery),
    concurrency,
    timeout: formatDuration(timeout),
    retry: {
      first: formatDuration(first),
      longest: formatDuration(longest),
      ...(attempts !== undefined && { attempts }),
    },
    ...(runs !== undefined && { limits: { runs: { ...runs } } }),
  };
}
