import { objectKey } from "@drover/controller";
import { builtin, listAll } from "@drover/kube";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { remove as removeFunction } from "../../../apps/cli/src/remove/remove.ts";
import { type CommandResult, spawnDrover } from "../../../apps/cli/src/testing/run-command.ts";
import { deployedWorldOfFile, usersOf } from "../stage/deployed-world.ts";
import { crash } from "../../harness/start-process.ts";
import { Task, task, tasksCommand, tasksFunction } from "../functions/tasks.ts";
import { eventually } from "../stage/world.ts";

// A real API server alone collects no garbage: what a removed function has owned would stay, and keep its names taken.
vi.stubEnv("DROVER_TEST_CLUSTER", undefined);
const world = await deployedWorldOfFile([Task], { "tasks:1": { command: tasksCommand } });
const finalizer = "drover.dev/tasks";
let journal: string;
let count = 0;
beforeEach(() => writeFileSync((journal = join(world.folder, `journal-${count++}`)), ""));

const lines = (): readonly string[] => readFileSync(journal, "utf8").split("\n").slice(0, -1);
const remove = (...words: readonly string[]): Promise<CommandResult> =>
  spawnDrover(["remove", ...words], { env: { KUBECONFIG: world.cluster.kubeconfig } });
const permissions = {
  cluster: [{ apiGroups: ["example.com"], resources: ["tasks"], verbs: ["get"] }],
};
const fn = () => tasksFunction({ image: "tasks:1", journal }, { permissions });
const roles = async (): Promise<readonly string[]> => {
  const kinds = [builtin.clusterRole, builtin.clusterRoleBinding, builtin.role, builtin.roleBinding];
  const lists = kinds.map((kind) =>
    listAll(world.client, kind, { labelSelector: "drover.dev/function=tasks" }),
  );
  return (await Promise.all(lists)).flat().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
};
/** Deploys the function, with so many tasks of this name that it has run. */
async function withTasks(
  name: string,
  number: number,
  spec: object = {},
): Promise<readonly ReturnType<typeof task>[]> {
  await world.cluster.apply({ ...fn(), spec: { ...fn().spec, ...spec } });
  const tasks = Array.from({ length: number }, (_, i) => task(`${name}-${i}`, 1));
  await Promise.all(tasks.map((one) => world.applyReady(one)));
  return tasks;
}
const isGone = async (): Promise<void> => {
  expect(await world.cluster.get(fn())).toBeUndefined();
  expect(await world.pods("tasks")).toEqual([]);
  expect(await usersOf(world, "tasks")).toEqual([]);
};
const finalizersOf = async (one: ReturnType<typeof task>) =>
  (await world.cluster.get(one))?.metadata.finalizers ?? [];

it("a function whose finalizer is on objects is not removed without a choice, and nothing is changed", async () => {
  const [one] = await withTasks("asked", 2);
  for (const words of [["tasks"], ["tasks", "--finalize"]]) {
    const { stderr, code } = await remove(...words);
    expect(stderr).toMatch(/2 tasks\.example\.com, such as default\/asked-\d,/);
    expect(stderr).toContain("Nothing was changed");
    expect(code).toBe(1);
  }
  expect((await world.cluster.get(fn()))?.metadata.deletionTimestamp).toBeUndefined();
  expect(await finalizersOf(one!)).toEqual([finalizer]);
  expect((await world.cluster.get(one!))?.metadata.deletionTimestamp).toBeUndefined();
}, 180_000);

it("--finalize deletes the objects, which the function finalizes, and then removes the function", async () => {
  const tasks = await withTasks("asked", 2);
  const { stdout, code, stderr } = await remove("default/tasks", "--finalize", "--yes");
  expect(stderr).toBe("");
  expect(stdout).toMatch(/ReconcileFunction default\/tasks: removed\n$/);
  expect(code).toBe(0);
  for (const one of tasks) expect(await world.cluster.get(one)).toBeUndefined();
  await isGone();
}, 180_000);

it("drover uninstall lists the functions, finalizes their objects, and names the next step", async () => {
  const uninstall = (...words: readonly string[]) =>
    spawnDrover(["uninstall", ...words], { env: { KUBECONFIG: world.cluster.kubeconfig } });
  const [one] = await withTasks("uninstalled", 1);
  expect((await uninstall()).stderr).toMatch(/default\/tasks\. Nothing was changed\./);
  expect(await finalizersOf(one!)).toEqual([finalizer]);
  const { stdout, code } = await uninstall("--finalize", "--yes");
  expect(stdout).toMatch(/No function is left\. Next: helm uninstall drover -n drover\n$/);
  expect(code).toBe(0);
  expect(await world.cluster.get(one!)).toBeUndefined();
  await isGone();
}, 180_000);

it("--release keeps the objects and what was made for them, and a user can delete them afterwards", async () => {
  const tasks = await withTasks("kept", 5);
  const { stdout, code } = await remove("tasks", "--release");
  expect(stdout).toContain("5 tasks.example.com: released from drover.dev/tasks\n");
  expect(code).toBe(0);
  await isGone();
  expect(lines().filter((line) => line.includes("finalizes"))).toEqual([]);
  for (const one of tasks) {
    expect(await finalizersOf(one)).toEqual([]);
    await world.removed(one);
  }
}, 180_000);

it("a removal that was interrupted while the deployer was away is completed by the same command", async () => {
  const [one] = await withTasks("interrupted", 1);
  await world.deployer.stop();
  const { stderr, code } = await remove("tasks", "--release", "--wait", "1s");
  expect(stderr).toMatch(
    /default\/tasks is not removed after 1s: .*Does Drover's deployer run in this cluster\?/,
  );
  expect(code).toBe(1);
  // Its Pods may still run, and would add the finalizer again.
  expect(await finalizersOf(one!)).toEqual([finalizer]);
  const waits = Promise.withResolvers<string>();
  const repeated = removeFunction(world.client, {
    key: objectKey({ namespace: "default", name: "tasks" }),
    choice: undefined,
    isConfirmed: false,
    kind: undefined,
    wait: 60_000,
    withoutDeployerIn: undefined,
    print: waits.resolve,
  });
  expect(await waits.promise).toBe("ReconcileFunction default/tasks is being removed");
  const deployer = await world.startDeployer();
  const command = "drover remove default/tasks --release --kind tasks.example.com";
  await expect(repeated).rejects.toThrow(`which is gone. To remove it from them: ${command}`);
  expect(await remove(...command.split(" ").slice(2))).toMatchObject({ code: 0 });
  await isGone();
  expect(await finalizersOf(one!)).toEqual([]);
  await world.removed(one!);
  await deployer.stop();
}, 180_000);

it("objects of a function that is gone are released by their kind", async () => {
  const deployer = await world.startDeployer();
  const [one] = await withTasks("orphaned", 1);
  await world.cluster.remove(fn());
  await eventually(isGone);
  expect((await remove("tasks", "--release")).stderr).toMatch(
    /^error: There is no ReconcileFunction default\/tasks\./,
  );
  expect(await finalizersOf(one!)).toEqual([finalizer]);
  expect(await remove("tasks", "--release", "--kind", "tasks.example.com")).toMatchObject({ code: 0 });
  expect(await finalizersOf(one!)).toEqual([]);
  await deployer.stop();
}, 180_000);

it("--without-deployer removes a function when Redis and its deployer are gone, and not while one runs", async () => {
  const deployer = await world.startDeployer();
  // Its Pods try to reach Redis until their grace is over.
  const [one] = await withTasks("abandoned", 1, { timeout: "2s" });
  const words = ["tasks", "--release", "--without-deployer"];
  expect((await remove(...words)).stderr).toMatch(
    /^error: A deployer runs in drover: leave --without-deployer out/,
  );
  expect((await world.cluster.get(fn()))?.metadata.deletionTimestamp).toBeUndefined();
  expect(await roles()).toContain("ClusterRoleBinding drover:default:tasks");
  await world.redis.stop();
  const { stderr } = await remove("tasks", "--release", "--wait", "3s");
  expect(stderr).toMatch(/^error: default\/tasks is not removed after 3s: /);
  expect((await remove(...words)).stderr).toContain(
    "kubectl scale deployment/deployer -n drover --replicas=0",
  );
  expect(await finalizersOf(one!)).toEqual([finalizer]);
  for (const each of [deployer, world.deployer]) await crash(each);
  // As when its namespace is deleted.
  await world.client.delete(builtin.lease, objectKey({ namespace: "drover", name: "deployer" }));
  expect(await remove(...words)).toMatchObject({ code: 0, stderr: "" });
  expect(await world.cluster.get(fn())).toBeUndefined();
  expect(await world.pods("tasks")).toEqual([]);
  expect(await roles()).toEqual([]);
  expect(await finalizersOf(one!)).toEqual([]);
  await world.removed(one!);
}, 180_000);
