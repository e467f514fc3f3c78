import {
  type FunctionIdentity,
  ReconcileFunction,
  type ReconcileFunctionSpec,
  type ReconcileFunctionStatus,
} from "@drover/controller";
import { isApiError, keyOf, type KubeClient, type KubeObject, listAll, refOf } from "@drover/kube";
import { CommandError } from "./command-error.ts";

/** A ReconcileFunction as it stands in the cluster. */
export interface DeployedFunction {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** Names its queues. */
  readonly identity: FunctionIdentity;
  readonly object: KubeObject;
  /** Undefined for one that is none. */
  readonly spec: ReconcileFunctionSpec | undefined;
  readonly status: Partial<ReconcileFunctionStatus>;
}

/** @throws CommandError saying that Drover is not installed, where that is the cause; else the cause itself. */
export function explainAbsence(cause: unknown): never {
  if (!isApiError(cause, "NotServed")) throw cause;
  throw new CommandError(
    "This cluster knows no ReconcileFunctions: Drover is not installed in it. Apply apps/bridge/deploy/crd.yaml, and " +
      "run the bridge and the deployer.",
    { cause },
  );
}

/** All functions of a namespace, or of all of them, by name. */
export async function deployedFunctions(
  client: KubeClient,
  namespace: string | undefined,
): Promise<readonly DeployedFunction[]> {
  const found = await listAll(client, refOf(ReconcileFunction), { namespace }).catch(explainAbsence);
  return found.map(deployedFunction).sort((a, b) => (a.key < b.key ? -1 : 1));
}

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
