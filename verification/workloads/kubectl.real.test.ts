import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { expect, it } from "vitest";
import { oursOfFile } from "./ours.fixture.ts";
import { butBoth } from "./subjects.ts";

// Commands of users, and kubectl's output for the status that our functions write.

const controllerManagerArgs = ["--horizontal-pod-autoscaler-sync-period=1s"];
const starting = startClusterWithFakeNodes({ controllers: butBoth, controllerManagerArgs });
const { cluster } = await oursOfFile(starting);

const run = promisify(execFile);
const kubectl = async (words: string): Promise<string> =>
  (await run(cluster.kubectl, words.split(" "))).stdout.trim();
const rolledOut = () => kubectl("rollout status deployment/web --timeout=100s");
const image = () => kubectl("get deployment/web -o jsonpath={.spec.template.spec.containers[0].image}");
const generation = () => kubectl("get deployment/web -o jsonpath={.metadata.generation}");
const podUids = async () =>
  (await kubectl("get pods -l app=web -o jsonpath={.items[*].metadata.uid}")).split(" ");
const revisions = async () =>
  [...(await kubectl("rollout history deployment/web")).matchAll(/^(\d+) /gm)].map(([, number]) => number);
const becomes = (path: string, value: number) =>
  kubectl(`wait deployment/web --for=jsonpath={${path}}=${value} --timeout=100s`);

it("people do with a Deployment what they always did", { timeout: 300_000 }, async () => {
  await kubectl("create deployment web --image=web:1 --replicas=3");
  expect(await rolledOut()).toContain('deployment "web" successfully rolled out');

  await kubectl("set image deployment/web web=web:2");
  expect(await rolledOut()).toContain("successfully rolled out");
  expect(await revisions()).toEqual(["1", "2"]);
  expect(await kubectl("rollout history deployment/web --revision=1")).toMatch(/Image:\s+web:1/);

  expect(await kubectl("rollout undo deployment/web")).toContain("rolled back");
  await rolledOut();
  expect(await image()).toBe("web:1");
  expect(await revisions()).toEqual(["2", "3"]);

  await kubectl("rollout pause deployment/web");
  await kubectl("set image deployment/web web=web:3");
  await kubectl(`wait deployment/web --for=jsonpath={.status.observedGeneration}=${await generation()}`);
  expect(await revisions()).toEqual(["2", "3"]);
  await expect(kubectl("rollout undo deployment/web")).rejects.toThrow("paused");
  await kubectl("rollout resume deployment/web");
  await rolledOut();
  expect(await revisions()).toEqual(["2", "3", "4"]);

  const before = await podUids();
  await kubectl("rollout restart deployment/web");
  await rolledOut();
  const after = await podUids();
  expect(after.filter((uid) => before.includes(uid))).toEqual([]);
});

it("scale and autoscale set how many there are", { timeout: 300_000 }, async () => {
  await kubectl("scale deployment/web --current-replicas=3 --replicas=6");
  await becomes(".status.availableReplicas", 6);
  // kube-controller-manager's autoscaler, by the scale subresource: more than its maximum must go.
  await kubectl("autoscale deployment/web --min=2 --max=4");
  await becomes(".status.replicas", 4);
  await kubectl("delete hpa/web");
});

it("a Deployment goes with all that is its own, or without", { timeout: 300_000 }, async () => {
  await kubectl("delete deployment/web --cascade=orphan --timeout=100s");
  const kept = (await kubectl("get replicasets -l app=web -o name")).split("\n");
  expect(kept.length).toBeGreaterThan(1);

  // One of the same name and selector adopts them, as its earlier revisions.
  await kubectl("create deployment web --image=web:9 --replicas=4");
  await rolledOut();
  expect(await revisions()).toHaveLength(kept.length + 1);

  await kubectl("delete deployment/web --cascade=foreground --timeout=100s");
  expect(await kubectl("get replicasets,pods -l app=web -o name")).toBe("");
});
