import type { KubeObject } from "@drover/kube";
import type { Manifest, User } from "@drover/testing";

export const pods = { apiVersion: "v1", kind: "Pod" };
export const jobs = { apiVersion: "batch/v1", kind: "Job" };

/** A Job of these fields, whose pods end for good. */
export const job = (spec: object, name = "sum"): Manifest => ({
  ...jobs,
  metadata: { name },
  spec: {
    template: {
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "sum:1" }] },
    },
    ...spec,
  },
});

const container = (name: string, state: object) => ({
  name,
  image: "sum:1",
  imageID: "",
  ready: false,
  restartCount: 0,
  state,
});

/** A container that has ended. */
export const terminated = (name: string, exitCode: number, at: Date) =>
  container(name, { terminated: { exitCode, finishedAt: at.toISOString().replace(/[.]\d+Z/, "Z") } });

/** The status that a kubelet writes for a pod whose container has ended. */
export const ended = (exitCode: number, at: Date) => ({
  phase: exitCode === 0 ? "Succeeded" : "Failed",
  containerStatuses: [terminated("main", exitCode, at)],
});

export const running = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
  containerStatuses: [{ ...container("main", { running: {} }), ready: true }],
};

/** Writes the status of a pod, as a kubelet does. */
export const writePod = (user: User, { metadata }: KubeObject, status: object): Promise<unknown> =>
  user.writeStatus({ ...pods, metadata: { name: metadata.name }, status });
