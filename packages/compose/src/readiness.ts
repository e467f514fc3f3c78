import { type KubeObject } from "@drover/kube";
import { z } from "zod";

/** A field that gets this value if it is absent or has another type. A `catch` alone makes an error for each absent field. */
const or = <T extends z.ZodType>(schema: T, value: z.util.NoUndefined<z.output<T>>) =>
  schema.default(value).catch(value);

const number = or(z.number(), 0);
const string = or(z.string(), "");
const statusSchema = z.looseObject({
  observedGeneration: z.number().optional().catch(undefined),
  replicas: number,
  updatedReplicas: number,
  readyReplicas: number,
  availableReplicas: number,
  desiredNumberScheduled: number,
  updatedNumberScheduled: number,
  numberAvailable: number,
  phase: string,
  conditions: or(z.array(z.looseObject({ type: z.string(), status: z.string(), message: string })), []),
  currentRevision: string,
  updateRevision: string,
  loadBalancer: or(z.looseObject({ ingress: or(z.array(z.unknown()), []) }), { ingress: [] }),
});
type Status = z.output<typeof statusSchema>;

/**
 * Why an object is not ready yet, as an unfinished sentence (`2 of 3 replicas are available`); undefined if it is ready.
 *
 * The rules are those of kstatus, by which Flux, Argo CD and `helm --wait` judge: the status must be for the present
 * generation, kinds of Kubernetes by their own fields, all other kinds by their conditions. An object without status is
 * ready.
 *
 * @see https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
export function notReadyReason(object: KubeObject): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return "it is being deleted";
  const status = statusSchema.parse(objectIn(object, "status"));
  const { generation } = object.metadata;
  const isBehind = generation !== undefined && (status.observedGeneration ?? generation) !== generation;
  if (isBehind) return "its newest change has not been observed yet";
  const rule = rules.get(`${object.apiVersion} ${object.kind}`);
  return rule === undefined ? byConditions(status) : rule(status, specSchema.parse(objectIn(object, "spec")));
}

type Spec = z.output<typeof specSchema>;
const specSchema = z.looseObject({
  replicas: or(z.number(), 1),
  type: string,
  updateStrategy: or(
    z.looseObject({
      type: string,
      rollingUpdate: or(z.looseObject({ partition: number }), { partition: 0 }),
    }),
    { type: "", rollingUpdate: { partition: 0 } },
  ),
});

const objectSchema = or(z.looseObject({}), {});
const objectIn = (object: KubeObject, field: string): object => objectSchema.parse(object[field]);

const counted = (have: number, want: number, what: string): string | undefined =>
  have < want ? `${have} of ${want} ${what}` : undefined;

const conditionOf = ({ conditions }: Status, type: string) => conditions.find((one) => one.type === type);
const isTrue = (status: Status, type: string): boolean => conditionOf(status, type)?.status === "True";

const rules: ReadonlyMap<string, (status: Status, spec: Spec) => string | undefined> = new Map([
  [
    "apps/v1 Deployment",
    (status, { replicas }) =>
      conditionOf(status, "Progressing")?.status === "False"
        ? (conditionOf(status, "Progressing")?.message ?? "it makes no progress")
        : (counted(status.updatedReplicas, replicas, "replicas are updated") ??
          (status.replicas > status.updatedReplicas ? "old replicas are still there" : undefined) ??
          counted(status.availableReplicas, replicas, "replicas are available")),
  ],
  [
    "apps/v1 ReplicaSet",
    (status, { replicas }) => counted(status.availableReplicas, replicas, "replicas are available"),
  ],
  [
    "apps/v1 StatefulSet",
    (status, { replicas, updateStrategy: { type, rollingUpdate } }) => {
      const short = counted(status.readyReplicas, replicas, "replicas are ready");
      if (short !== undefined || type === "OnDelete") return short;
      if (rollingUpdate.partition > 0)
        return counted(status.updatedReplicas, replicas - rollingUpdate.partition, "replicas are updated");
      return status.currentRevision === status.updateRevision
        ? undefined
        : "its old revision is still current";
    },
  ],
  [
    "apps/v1 DaemonSet",
    ({ observedGeneration, desiredNumberScheduled: want, updatedNumberScheduled, numberAvailable }) =>
      observedGeneration === undefined
        ? "it has no status yet"
        : (counted(updatedNumberScheduled, want, "Pods are updated") ??
          counted(numberAvailable, want, "Pods are available")),
  ],
  [
    "batch/v1 Job",
    (status) =>
      isTrue(status, "Failed")
        ? `it failed: ${conditionOf(status, "Failed")?.message ?? ""}`
        : isTrue(status, "Complete")
          ? undefined
          : "it is not complete",
  ],
  [
    "v1 Pod",
    (status) =>
      status.phase === "Succeeded" || isTrue(status, "Ready")
        ? undefined
        : `it is ${status.phase || "Pending"}`,
  ],
  ["v1 PersistentVolumeClaim", ({ phase }) => (phase === "Bound" ? undefined : "it is not bound")],
  [
    "v1 Service",
    ({ loadBalancer }, { type }) =>
      type === "LoadBalancer" && loadBalancer.ingress.length === 0 ? "it has no address yet" : undefined,
  ],
  [
    "apiextensions.k8s.io/v1 CustomResourceDefinition",
    (status) => (isTrue(status, "Established") ? undefined : "it is not established"),
  ],
]);

function byConditions(status: Status): string | undefined {
  for (const type of ["Stalled", "Reconciling"])
    if (isTrue(status, type)) return conditionOf(status, type)?.message || `it is ${type}`;
  const ready = conditionOf(status, "Ready");
  return ready === undefined || ready.status === "True" ? undefined : ready.message || "it is not Ready";
}
