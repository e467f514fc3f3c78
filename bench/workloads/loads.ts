import { setTimeout as delay } from "node:timers/promises";
import { fateAnnotation } from "@drover/real-cluster";
import { inParallel } from "../bridge/cluster/api.ts";
import type { Stage } from "./stage.ts";
import { z } from "zod";

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
  /** Pods of a Service, a tenth of which are replaced. */
  readonly served: number;
  /** DaemonSets, one after the other: each comes to all nodes, and rolls to another image. */
  readonly daemonSets: number;
}
export const full: Size = {
  small: 20,
  large: 500,
  many: 200,
  rolled: 100,
  smallJobs: 10,
  indexes: 500,
  manyJobs: 200,
  served: 1_000,
  daemonSets: 10,
};
export const little: Size = {
  small: 2,
  large: 20,
  many: 5,
  rolled: 10,
  smallJobs: 1,
  indexes: 10,
  manyJobs: 5,
  served: 20,
  daemonSets: 1,
};

export const loadsOf = (size: Size): readonly Load[] => [
  ...deploymentLoads(size),
  ...jobLoads(size),
  ...serviceLoads(size),
  daemonSetLoad(size),
];

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

const serviceLoads = ({ served }: Size): readonly Load[] => [
  {
    title: `a Service of ${served} pods`,
    given: (ground) => applied(ground, "web", served),
    run: async (ground) => [await servedFromCreation(ground)],
  },
  {
    title: `${served / 10} of ${served} pods of a Service are replaced`,
    async given(ground) {
      await applied(ground, "web", served);
      await servedFromCreation(ground);
    },
    run: async (ground) => [await replaced(ground, served / 10)],
  },
];

const podList = z.object({
  items: z.array(z.object({ metadata: z.object({ name: z.string(), uid: z.string() }) })),
});

const podsOf = async ({ stage: { api }, namespace }: Ground) =>
  podList
    .parse(JSON.parse(await api.send("GET", `/api/v1/namespaces/${namespace}/pods`)))
    .items.map(({ metadata }) => metadata);
const uidsOf = async (ground: Ground): Promise<ReadonlySet<string>> =>
  new Set((await podsOf(ground)).map(({ uid }) => uid));

/** From the request to slices that have all its pods. */
async function servedFromCreation(ground: Ground): Promise<number> {
  const { stage, namespace } = ground;
  const uids = await uidsOf(ground);
  const content = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  };
  const begun = performance.now();
  await Promise.all([
    stage.endpoints.serves(namespace, "web", uids),
    stage.api.send("POST", `/api/v1/namespaces/${namespace}/services`, { type: "application/json", content }),
  ]);
  return performance.now() - begun;
}

const daemonSetLoad = ({ daemonSets }: Size): Load => ({
  title: `a DaemonSet comes to 10 nodes and rolls, ${daemonSets} times`,
  async run(ground) {
    const times: number[] = [];
    for (let i = 0; i < daemonSets; i += 1) times.push(await placedAndRolled(ground, `agent-${i}`));
    return times;
  },
});

/** From the request to a DaemonSet that has rolled to another image, three nodes at a time. */
async function placedAndRolled(
  { stage: { api, daemonSets }, namespace }: Ground,
  name: string,
): Promise<number> {
  const labels = { app: name };
  const content = {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 3 } },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "agent:1" }] } },
    },
  };
  const all = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
  const begun = performance.now();
  await Promise.all([
    daemonSets.complete(namespace, name),
    api.send("POST", all, { type: "application/json", content }),
  ]);
  await Promise.all([
    daemonSets.complete(namespace, name),
    api.send("PATCH", `${all}/${name}`, {
      type: "application/json-patch+json",
      content: [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "agent:2" }],
    }),
  ]);
  return performance.now() - begun;
}

/** From the deletion of pods to slices that have those in their place. */
async function replaced(ground: Ground, count: number): Promise<number> {
  const { stage, namespace } = ground;
  const pods = await podsOf(ground);
  const gone = new Set(pods.slice(0, count).map(({ uid }) => uid));
  const begun = performance.now();
  await inParallel(count, 16, (i) =>
    stage.api.send("DELETE", `/api/v1/namespaces/${namespace}/pods/${pods[i]?.name ?? ""}`),
  );
  for (;;) {
    const uids = await uidsOf(ground);
    if (uids.size === pods.length && uids.isDisjointFrom(gone)) {
      await stage.endpoints.serves(namespace, "web", uids);
      return performance.now() - begun;
    }
    await delay(50);
  }
}

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
