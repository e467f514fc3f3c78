import type { ChildObject } from "@drover/controller";
import type * as types from "@kubernetes/client-node";

/** Kubernetes' own kinds that functions declare most: their versions, and the types of Kubernetes' client. */
interface Kinds {
  readonly ConfigMap: ["v1", types.V1ConfigMap];
  readonly CronJob: ["batch/v1", types.V1CronJob];
  readonly DaemonSet: ["apps/v1", types.V1DaemonSet];
  readonly Deployment: ["apps/v1", types.V1Deployment];
  readonly HorizontalPodAutoscaler: ["autoscaling/v2", types.V2HorizontalPodAutoscaler];
  readonly Ingress: ["networking.k8s.io/v1", types.V1Ingress];
  readonly Job: ["batch/v1", types.V1Job];
  readonly Namespace: ["v1", types.V1Namespace];
  readonly NetworkPolicy: ["networking.k8s.io/v1", types.V1NetworkPolicy];
  readonly PersistentVolumeClaim: ["v1", types.V1PersistentVolumeClaim];
  readonly Pod: ["v1", types.V1Pod];
  readonly PodDisruptionBudget: ["policy/v1", types.V1PodDisruptionBudget];
  readonly Role: ["rbac.authorization.k8s.io/v1", types.V1Role];
  readonly RoleBinding: ["rbac.authorization.k8s.io/v1", types.V1RoleBinding];
  readonly Secret: ["v1", types.V1Secret];
  readonly Service: ["v1", types.V1Service];
  readonly ServiceAccount: ["v1", types.V1ServiceAccount];
  readonly StatefulSet: ["apps/v1", types.V1StatefulSet];
}

/**
 * A value as a manifest has it: times are texts, and `from` is `_from` in Kubernetes' client only. What may be left out
 * may also be undefined.
 */
type Declared<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Declared<Item>[]
    : T extends object
      ? {
          readonly [Field in keyof T as Field extends `_${infer Name}` ? Name : Field]:
            Declared<T[Field]> | Absent<T, Field>;
        }
      : T;
type Absent<T, Field extends keyof T> = Partial<Pick<T, Field>> extends Pick<T, Field> ? undefined : never;

type SetByDrover = "apiVersion" | "kind" | "metadata" | "status";

/**
 * A child of one of Kubernetes' own kinds, with its fields: `const page: ChildOf<"ConfigMap"> = { ... }`. A child of any
 * other kind is a `ChildObject`.
 */
export type ChildOf<Kind extends keyof Kinds> = Pick<ChildObject, "metadata"> & {
  readonly apiVersion: Kinds[Kind][0];
  readonly kind: Kind;
} & Declared<Omit<Kinds[Kind][1], SetByDrover>>;
