import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isRunning } from "@drover/local-servers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  delayAnnotation,
  disruptionAnnotation,
  exitCodeAnnotation,
  fateAnnotation,
  restartsAnnotation,
  whenDeletedAnnotation,
} from "./stages.ts";
import { createObjects, type FakeNodeCluster, startClusterWithFakeNodes } from "./start-with-fake-nodes.ts";

let cluster: FakeNodeCluster;
beforeAll(async () => {
  cluster = await startClusterWithFakeNodes({ nodes: 3, log: (line) => console.log(line) });
}, 3_600_000);
afterAll(() => cluster.stop());

const kubectl = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(cluster.kubectl, args)).stdout;
const create = (object: object): Promise<void> => createObjects(cluster.kubectl, object);
const deployment = (name: string, replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "main", image: "none" }] },
    },
  },
});
const pod = (name: string, annotations: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, annotations },
  spec: { terminationGracePeriodSeconds: 3600, containers: [{ name: "main", image: "none" }] },
});
const statusOf = async (name: string): Promise<string> => {
  const ready = '{.status.phase} {.status.conditions[?(@.type=="Ready")].status} {.spec.nodeName}';
  return (await kubectl("get", "pod", name, "-o", `jsonpath=${ready}`)).replace(/fake-\d/, "on a node");
};
const becomes = async (name: string, status: string): Promise<void> =>
  vi.waitFor(async () => expect(await statusOf(name)).toBe(status), { timeout: 20_000, interval: 200 });

describe("a control plane with fake nodes", () => {
  it("makes a Deployment of three available", async () => {
    await create(deployment("three", 3));
    await kubectl("wait", "--timeout=60s", "--for=condition=Available", "deployment/three");
    expect(await kubectl("get", "deployment", "three", "-o", "jsonpath={.status.readyReplicas}")).toBe("3");
  });

  it.each([
    ["stays", {}, "Running True on a node"],
    ["pending", { [fateAnnotation]: "pending" }, "Pending  on a node"],
    ["unready", { [fateAnnotation]: "unready" }, "Running False on a node"],
    ["fails", { [fateAnnotation]: "fails" }, "Failed False on a node"],
    ["succeeds", { [fateAnnotation]: "succeeds" }, "Succeeded False on a node"],
    ["late", { [delayAnnotation]: "2s" }, "Running True on a node"],
  ])("a pod's annotation determines its state: %s", async (name, annotations, status) => {
    await create(pod(name, annotations));
    await becomes(name, status);
  });

  it("a pod that is ready is made unready and ready again, and at last it fails", async () => {
    await create(pod("changing", {}));
    await becomes("changing", "Running True on a node");
    await kubectl("annotate", "pod", "changing", `${fateAnnotation}=unready`);
    await becomes("changing", "Running False on a node");
    await kubectl("annotate", "pod", "changing", `${fateAnnotation}-`);
    await becomes("changing", "Running True on a node");
    await kubectl("annotate", "pod", "changing", `${fateAnnotation}=fails`);
    await becomes("changing", "Failed False on a node");
  });

  it("a pod that fails has an exit code and a disruption", async () => {
    await create(
      pod("disrupted", {
        [fateAnnotation]: "fails",
        [exitCodeAnnotation]: "42",
        [disruptionAnnotation]: "Drained",
      }),
    );
    await becomes("disrupted", "Failed False on a node");
    const path =
      '{.status.containerStatuses[0].state.terminated.exitCode} {.status.conditions[?(@.type=="DisruptionTarget")].reason}';
    expect(await kubectl("get", "pod", "disrupted", "-o", `jsonpath=${path}`)).toBe("42 Drained");
  });

  it("containers restart, and a deleted pod may fail before it goes", async () => {
    const held = pod("restarted", { [whenDeletedAnnotation]: "fails" });
    await create({ ...held, metadata: { ...held.metadata, finalizers: ["example.com/hold"] } });
    await becomes("restarted", "Running True on a node");
    await kubectl("annotate", "pod", "restarted", `${restartsAnnotation}=3`);
    await kubectl(
      ...["wait", "pod", "restarted", "--timeout=20s"],
      "--for=jsonpath={.status.containerStatuses[0].restartCount}=3",
    );
    await kubectl("delete", "pod", "restarted", "--wait=false");
    await becomes("restarted", "Failed False on a node");
    await kubectl("patch", "pod", "restarted", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
    await kubectl("wait", "pod", "restarted", "--for=delete", "--timeout=20s");
  });

  it("a deleted pod goes, however long it might have taken", async () => {
    await kubectl("delete", "pod", "stays", "--timeout=20s");
  });

  it("runs other controllers while the API server stays: nothing becomes of a Deployment without its own", async () => {
    await cluster.runControllers(["*", "-deployment-controller", "-replicaset-controller"]);
    await create(deployment("alone", 3));
    // The others work: what is in a namespace goes with it, and that takes longer than a ReplicaSet would.
    await kubectl("create", "namespace", "passing");
    await kubectl("create", "configmap", "content", "-n", "passing");
    await kubectl("delete", "namespace", "passing", "--timeout=60s");
    expect(await kubectl("get", "replicasets", "-l", "app=alone", "-o", "name")).toBe("");

    await cluster.runControllers(["*"]);
    await kubectl("wait", "--timeout=60s", "--for=condition=Available", "deployment/alone");
  });

  it("leaves no process behind", async () => {
    const other = await startClusterWithFakeNodes();
    const pids = other.pids();
    expect(pids.map(isRunning)).toEqual([true, true, true, true, true]);
    await other.stop();
    expect(pids.map(isRunning)).toEqual([false, false, false, false, false]);
  });
});
