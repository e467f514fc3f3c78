import {
  type FunctionIdentity,
  ReconcileFunction,
  type ReconcileFunctionSpec,
  type ReconcileFunctionStatus,
} from "@drover/controller";
import {
  isApiError,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import { CommandError } from "./command-error.ts";

/** A ReconcileFunction as read from the cluster. */
export interface DeployedFunction {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** Determines the names of its queues. */
  readonly identity: FunctionIdentity;
  readonly object: KubeObject;
  /** Undefined if the spec is invalid. */
  readonly spec: ReconcileFunctionSpec | undefined;
  readonly status: Partial<ReconcileFunctionStatus>;
}

/** @throws CommandError if the cause is that Drover is not installed; otherwise the cause itself. */
export function explainNotServed(cause: unknown): never {
  if (!isApiError(cause, "NotServed")) throw cause;
  throw new CommandError(
    "This cluster does not serve ReconcileFunctions: Drover is not installed in it. Install it: " +
      "docs/deploying-functions.md.",
    { cause },
  );
}

/** All objects of a kind; none if the cluster does not serve it. */
export async function listServed(...[client, ref, options]: Parameters<typeof listAll>) {
  return listAll(client, ref, options).catch((error: unknown) => {
    if (isApiError(error, "NotServed")) return [];
    throw error;
  });
}

/** All functions of a namespace, sorted by name; of all namespaces, if `namespace` is undefined. */
export async function deployedFunctions(
  client: KubeClient,
  namespace: string | undefined,
): Promise<readonly DeployedFunction[]> {
  const found = await listAll(client, refOf(ReconcileFunction), { namespace }).catch(explainNotServed);
  return found.map(deployedFunction).sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** True if the function is for objects of this kind; undefined if its spec cannot be read, and it may be for any. */
export const isForKind = (
  { spec }: DeployedFunction,
  { group, plural }: Pick<ResourceRef, "group" | "plural">,
): boolean | undefined => spec && spec.for.group === group && spec.for.plural === plural;

function deployedFunction(object: KubeObject): DeployedFunction {
  const { name, namespace = "", uid } = object.metadata;
  return {
    key: keyOf(object),
    namespace,
    name,
    identity: { namespace, name, uid },
    object,
    spec: ReconcileFunction.spec.safeParse(object["spec"]).data,
    status: ReconcileFunction.status.partial().safeParse(object["status"]).data ?? {},
  };
}
