import { timestamp } from "@drover/controller";
import { replicaSetSchema } from "@drover/workloads";
import { decide } from "../decide.ts";
import { type DeploymentObject, deploymentSchema } from "../deployment.ts";
import { type Draft, draftOf } from "../draft.ts";

const metadata = { name: "web", namespace: "default", uid: "u", resourceVersion: "1", generation: 1 };

export const template = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image }] },
});

/** A Deployment that asks for `web:new`. */
export const deploymentOf = (
  spec: object,
  { status = {}, ...more }: { readonly status?: object; readonly annotations?: object } = {},
): DeploymentObject =>
  deploymentSchema.parse({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, ...more },
    status,
    spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template: template("web:new"), ...spec },
  });

export interface SetOptions {
  readonly size?: number;
  readonly status?: object;
  readonly annotations?: object;
  readonly generation?: number;
  readonly isDeleting?: boolean;
  /** Minutes after the year's begin at which it was made. */
  readonly age?: number;
}

/** The annotations of a set that was scaled for a Deployment of that size, and that many pods with surge. */
export const madeFor = (desired: number, max: number) => ({
  "deployment.kubernetes.io/desired-replicas": String(desired),
  "deployment.kubernetes.io/max-replicas": String(max),
});

/** A set of an image with all its pods available, unless its status is given. */
export const setOf = (
  image: string,
  { size = 1, status, annotations = {}, generation = 1, isDeleting = false, age = 0 }: SetOptions = {},
) =>
  replicaSetSchema.parse({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      ...metadata,
      name: image,
      annotations,
      generation,
      creationTimestamp: timestamp(new Date(Date.UTC(2026, 0, 1, 0, age))),
      ...(isDeleting && { deletionTimestamp: "2026-01-02T00:00:00Z" }),
    },
    spec: { replicas: size, selector: {}, template: template(image) },
    status: {
      replicas: size,
      readyReplicas: size,
      availableReplicas: size,
      observedGeneration: 1,
      ...status,
    },
  });

export const testTime = new Date("2026-01-02T00:00:00Z");

/** The draft that is decided for a Deployment and its sets. */
export function decideDraft(
  deployment: DeploymentObject,
  sets: readonly ReturnType<typeof setOf>[],
  oldMayRun = false,
): Draft {
  const draft = draftOf(deployment, sets, testTime);
  decide(draft, oldMayRun);
  return draft;
}

const imageOf = (one: unknown): string => /web:\w+/.exec(JSON.stringify(one))?.[0] ?? "";

/** How many replicas each image is to have. */
export const sizes = ({ sets }: Draft): Readonly<Record<string, number>> =>
  Object.fromEntries(sets.map(({ set: { spec }, replicas }) => [imageOf(spec.template), replicas] as const));
