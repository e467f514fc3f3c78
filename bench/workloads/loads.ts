import { fateAnnotation } from "@drover/real-cluster";
import { inParallel } from "../bridge/cluster/api.ts";
import type { Stage } from "./stage.ts";

/** Deployments or Jobs are created or changed in a namespace of their own, until all are complete. */
export interface Load {
  readonly title: string;
  /** What has to be there before. */
  readonly given?: (ground: Ground) => Promise<unknown>;
  /** Milliseconds that each of what was asked for took. */
  readonly run: (ground: Ground) => Promise<readonly number[]>;
}

interface Ground {
  readonly stage: Stage;
  readonly namespace: string;
}

export interface Size {
  /** Deployments of three, one after the other. */
  readonly small: number;
  /** Replicas of a large one. */
  readonly large: number;
  /** Deployments of one, all at once. */
  readonly many: number;
  /** Replicas that roll to another image. */
  readonly rolled: number;
  /** Jobs of three pods, one after the other. */
  readonly smallJobs: number;
  /** Indexes of a large Job, a fifth of them at once. */
  readonly indexes: number;
  /** Jobs of one pod, all at once. */
  readonly manyJobs: number;
}
export const full: Size = {
  small: 20,
  large: 500,
  many: 200,
  rolled: 100,
  smallJobs: 10,
  indexes: 500,
  manyJobs: 200,
};
export const little: Size = {
  small: 2,
  large: 20,
  many: 5,
  rolled: 10,
  smallJobs: 1,
  indexes: 10,
  manyJobs: 5,
};

export const loadsOf = (size: Size): readonly Load[] => [...deploymentLoads(size), ...jobLoads(size)];

const deploymentLoads = ({ small, large, many, rolled }: Size): readonly Load[] => [
  {
    title: `3 replicas, ${small} times`,
    async run(ground) {
      const times: number[] = [];
      for (let i = 0; i < small; i += 1) times.push(await applied(ground, `web-${i}`, 3));
      return times;
    },
  },
  { title: `${large} replicas`, run: async (ground) => [await applied(ground, "web", large)] },
  {
    title: `${many} Deployments at once`,
    async run(ground) {
      const begun = performance.now();
      await inParallel(many, 16, (i) => applied(ground, `web-${i}`, 1));
      return [performance.now() - begun];
    },
  },
  {
    title: `${rolled} replicas roll to another image`,
    given: (ground) => applied(ground, "web", rolled),
    run: async (ground) => [await rolledOn(ground, "web")],
  },
];

const jobLoads = ({ smallJobs, indexes, manyJobs }: Size): readonly Load[] => [
  {
    title: `a Job of 3 pods, ${smallJobs} times`,
    async run(ground) {
      const times: number[] = [];
      for (let i = 0; i < smallJobs; i += 1)
        times.push(await completed(ground, `sum-${i}`, { completions: 3, parallelism: 3 }));
      return times;
    },
  },
  {
    title: `a Job of ${indexes} indexes`,
    run: async (ground) => [
      await completed(ground, "sum", {
        completionMode: "Indexed",
        completions: indexes,
        parallelism: indexes / 5,
      }),
    ],
  },
  {
    title: `${manyJobs} Jobs at once`,
    async run(ground) {
      const begun = performance.now();
      await inParallel(manyJobs, 16, (i) => completed(ground, `sum-${i}`, {}));
      return [performance.now() - begun];
    },
  },
];

/** From the request to a Job that is complete. Its pods succeed as soon as they run. */
async function completed(
  { stage: { api, jobs }, namespace }: Ground,
  name: string,
  spec: object,
): Promise<number> {
  const template = {
    metadata: { annotations: { [fateAnnotation]: "succeeds" } },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "sum:1" }] },
  };
  const content = { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { ...spec, template } };
  const begun = performance.now();
  await Promise.all([
    jobs.complete(namespace, name),
    api.send("POST", `/apis/batch/v1/namespaces/${namespace}/jobs`, { type: "application/json", content }),
  ]);
  return performance.now() - begun;
}

const path = (namespace: string, name = ""): string =>
  `/apis/apps/v1/namespaces/${namespace}/deployments${name && `/${name}`}`;

/** From the request to a Deployment that is complete. */
async function applied(
  { stage: { api, deployments }, namespace }: Ground,
  name: string,
  replicas: number,
): Promise<number> {
  const labels = { app: name };
  const content = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } },
    },
  };
  const begun = performance.now();
  await Promise.all([
    deployments.complete(namespace, name),
    api.send("POST", path(namespace), { type: "application/json", content }),
  ]);
  return performance.now() - begun;
}

async function rolledOn({ stage: { api, deployments }, namespace }: Ground, name: string): Promise<number> {
  const begun = performance.now();
  await Promise.all([
    deployments.complete(namespace, name),
    api.send("PATCH", path(namespace, name), {
      type: "application/json-patch+json",
      content: [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "web:2" }],
    }),
  ]);
  return performance.now() - begun;
}
