import type { Milliseconds } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { z } from "zod";

// Go leaves out what is empty, or writes null for it.
const withDefault = <T extends z.ZodType>(schema: T, otherwise: z.output<T>) =>
  schema.nullish().transform((value): z.output<T> => value ?? otherwise);
const listOf = <T extends z.ZodType>(item: T) => withDefault(z.array(item), []);
const flag = withDefault(z.boolean(), false);
const text = (otherwise = "") => withDefault(z.string(), otherwise);
const texts = withDefault(z.record(z.string(), z.string()), {});
const anything = z.looseObject({}).nullish();
const count = (otherwise: number) => withDefault(z.number(), otherwise);

const keyRef = z.object({ name: text(), key: z.string(), optional: flag });
const fieldRef = z.object({ fieldPath: z.string() });
const envSchema = z.object({
  name: z.string(),
  value: z.string().nullish(),
  valueFrom: z
    .object({
      fieldRef: fieldRef.nullish(),
      secretKeyRef: keyRef.nullish(),
      configMapKeyRef: keyRef.nullish(),
      resourceFieldRef: anything,
      fileKeyRef: anything,
    })
    .nullish(),
});
const sourceRef = z.object({ name: text(), optional: flag });
const envFromSchema = z.object({
  prefix: text(),
  secretRef: sourceRef.nullish(),
  configMapRef: sourceRef.nullish(),
});

const port = z.union([z.string(), z.number()]);
const probeSchema = z.object({
  httpGet: z
    .object({
      path: text("/"),
      port,
      host: z.string().nullish(),
      scheme: text("HTTP"),
      httpHeaders: listOf(z.object({ name: z.string(), value: text() })),
    })
    .nullish(),
  tcpSocket: z.object({ port, host: z.string().nullish() }).nullish(),
  exec: anything,
  grpc: anything,
  initialDelaySeconds: count(0),
  periodSeconds: count(10),
  timeoutSeconds: count(1),
  successThreshold: count(1),
  failureThreshold: count(3),
});

const containerSchema = z.object({
  name: z.string(),
  image: text(),
  command: listOf(z.string()),
  args: listOf(z.string()),
  workingDir: text(),
  env: listOf(envSchema),
  envFrom: listOf(envFromSchema),
  ports: listOf(
    z.object({ name: text(), containerPort: z.number(), hostPort: count(0), protocol: text("TCP") }),
  ),
  volumeMounts: listOf(
    z.object({ name: z.string(), mountPath: z.string(), subPath: text(), subPathExpr: text() }),
  ),
  readinessProbe: probeSchema.nullish(),
  livenessProbe: probeSchema.nullish(),
  startupProbe: probeSchema.nullish(),
  lifecycle: anything,
});

const itemSchema = z.object({ key: z.string(), path: z.string(), mode: z.number().nullish() });
const filed = { items: z.array(itemSchema).nullish(), optional: flag, defaultMode: z.number().nullish() };
const downward = z.object({
  items: listOf(z.object({ path: z.string(), fieldRef: fieldRef.nullish(), mode: z.number().nullish() })),
  defaultMode: z.number().nullish(),
});
const volumeSchema = z.looseObject({
  name: z.string(),
  secret: z.object({ secretName: text(), ...filed }).nullish(),
  configMap: z.object({ name: text(), ...filed }).nullish(),
  emptyDir: anything,
  downwardAPI: downward.nullish(),
  projected: z
    .object({
      defaultMode: z.number().nullish(),
      sources: listOf(
        z.looseObject({
          secret: z.object({ name: text(), ...filed }).nullish(),
          configMap: z.object({ name: text(), ...filed }).nullish(),
          downwardAPI: downward.nullish(),
        }),
      ),
    })
    .nullish(),
});

const specSchema = z.object({
  nodeName: text(),
  schedulerName: text("default-scheduler"),
  schedulingGates: listOf(z.looseObject({})),
  nodeSelector: texts,
  serviceAccountName: text("default"),
  restartPolicy: withDefault(z.enum(["Always", "OnFailure", "Never"]), "Always"),
  terminationGracePeriodSeconds: count(30),
  hostNetwork: flag,
  hostPID: flag,
  hostIPC: flag,
  initContainers: listOf(z.looseObject({})),
  ephemeralContainers: listOf(z.looseObject({})),
  readinessGates: listOf(z.looseObject({})),
  containers: listOf(containerSchema),
  volumes: listOf(volumeSchema),
});

const terminatedSchema = z.looseObject({ exitCode: z.number() });
const stateSchema = z.looseObject({ running: anything, terminated: terminatedSchema.nullish() }).nullish();
const conditionSchema = z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: text() });
const statusSchema = z.looseObject({
  phase: text("Pending"),
  podIP: text(),
  startTime: text(),
  conditions: listOf(conditionSchema),
  containerStatuses: listOf(
    z.looseObject({ name: z.string(), restartCount: count(0), state: stateSchema, lastState: stateSchema }),
  ),
});

const podSchema = z.object({
  metadata: z.looseObject({ deletionGracePeriodSeconds: z.number().nullish() }),
  spec: specSchema,
  status: statusSchema.nullish().transform((status) => status ?? statusSchema.parse({})),
});

export type Container = z.output<typeof containerSchema>;
export type Env = z.output<typeof envSchema>;
export type Probe = z.output<typeof probeSchema>;
export type Volume = z.output<typeof volumeSchema>;
export type PodSpec = z.output<typeof specSchema>;
/** A pod's status on the server, perhaps of this node before it was killed. */
export type WrittenStatus = z.output<typeof statusSchema>;
export type PodCondition = z.output<typeof conditionSchema>;

/** The fields of a Pod that a node uses. */
export type NodePod = Readonly<ReturnType<typeof parsePod>>;

/** The pod in an object. Throws a ZodError for what no API server would have let in. */
export function parsePod(object: KubeObject) {
  const { metadata, spec, status } = podSchema.parse(object);
  const { namespace = "", name, uid, labels = {}, annotations = {}, deletionTimestamp } = object.metadata;
  /** How long its processes have from SIGTERM on; undefined while it is not deleted. */
  const terminationGrace: Milliseconds | undefined =
    deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return { namespace, name, uid, labels, annotations, terminationGrace, spec, status };
}

/** The number of a container's port that may be given by name. */
export function portNumber(asked: string | number, containers: readonly Container[]): number | undefined {
  if (typeof asked === "number") return asked;
  const named = containers.flatMap(({ ports }) => ports).find(({ name }) => name === asked);
  return named?.containerPort ?? (/^\d+$/.test(asked) ? Number(asked) : undefined);
}
