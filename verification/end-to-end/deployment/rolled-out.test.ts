import { type FunctionDeployment } from "@drover/controller";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { core, withMetadata } from "../../harness/manifests.ts";
import { deployedWorldOfFile, usersOf } from "../stage/deployed-world.ts";
import { Task, task, tasksCommand, tasksFunction } from "../functions/tasks.ts";
import type { TestObject } from "../stage/test-cluster.ts";
import { conditionOf, eventually, isReady } from "../stage/world.ts";

const ours = { command: tasksCommand };
const broken = { command: [process.execPath, "-e", "process.exit(3)"] };
const world = await deployedWorldOfFile([Task], { "tasks:1": ours, "tasks:2": ours, broken });
let journal: string;
let count = 0;
beforeEach(() => writeFileSync((journal = join(world.folder, `journal-${count++}`)), ""));

const lines = (): readonly string[] => readFileSync(journal, "utf8").split("\n").slice(0, -1);
const deployed = (image: string, more: FunctionDeployment = {}) =>
  tasksFunction(
    { image, journal, by: image },
    {
      scaling: { min: 1, max: 2, idleAfter: "1s" },
      permissions: { cluster: [{ apiGroups: ["example.com"], resources: ["tasks"], verbs: ["get"] }] },
      // An apply keeps what it leaves out.
      onRollout: "none",
      paused: false,
      ...more,
    },
  );
/** All its Pods are of the newest revision. */
const isRolledOut = (object: TestObject | undefined): boolean =>
  conditionOf(object) !== undefined &&
  Boolean(object?.status?.conditions?.some(({ type, status }) => type === "RolledOut" && status === "True"));
const revisions = async () =>
  (await world.pods("tasks")).map(({ metadata }) => metadata.annotations["drover.dev/revision"]);

it("a new version takes over when it is Ready, and the old one ends its runs", async () => {
  const { cluster } = world;
  await cluster.apply(deployed("tasks:1"));
  await world.until(deployed("any"), isRolledOut);
  await cluster.apply(task("long", 6_000));
  await eventually(() => expect(lines()).toEqual(["tasks:1 begins default/long"]));
  await cluster.apply(deployed("tasks:2"));
  await eventually(async () => expect(await revisions()).toEqual(["1", "2"]));
  await world.until(task("long", 0), isReady);
  await eventually(async () => expect(await revisions()).toEqual(["2"]));
  // Neither cut off, nor done twice.
  expect(lines()).toEqual(["tasks:1 begins default/long", "tasks:1 ends default/long"]);
  await world.applyReady(task("next", 1));
  expect(lines()).toContain("tasks:2 ends default/next");
}, 120_000);

it("a version that has taken over looks at every object once more, where that is asked for", async () => {
  const { cluster } = world;
  const of = (image: string) => deployed(image, { onRollout: "campaign" });
  await cluster.apply(of("tasks:1"));
  await world.until(of("any"), isRolledOut);
  await world.applyReady(task("untouched", 1));
  await cluster.apply(of("tasks:2"));
  await world.until(task("untouched", 0), (object) => object?.status?.["by"] === "tasks:2");
  const found = await world.until(of("any"), (object) =>
    /"state":"Done"/.test(JSON.stringify(object?.status?.["campaign"])),
  );
  expect(JSON.stringify(found?.status?.["campaign"])).toMatch(/"name":"rollout-\d+"/);
}, 120_000);

it("a version that has taken over tries what the one before has given up on, and nothing else", async () => {
  const { cluster } = world;
  const of = (image: string) => deployed(image, { onRollout: "retry" });
  await cluster.apply(of("tasks:1"));
  await world.until(of("any"), isRolledOut);
  await cluster.apply(task("well", 1));
  await cluster.apply(task("given-up", -1));
  await world.until(task("well", 0), isReady);
  await world.until(task("given-up", 0), (object) => conditionOf(object)?.status === "False");
  writeFileSync(journal, "");
  await cluster.apply(of("tasks:2"));
  await world.until(task("given-up", 0), isReady);
  expect(lines().filter((line) => !line.endsWith("given-up"))).toEqual([]);
  expect(lines()).toContain("tasks:2 ends default/given-up");
}, 120_000);

it("a version that does not start replaces no running Pod, and the status has the reason", async () => {
  const { cluster } = world;
  await cluster.apply(deployed("tasks:1"));
  await world.until(deployed("any"), isRolledOut);
  const before = await revisions();
  await cluster.apply(deployed("broken"));
  const rolledOut = (name: string) => name === "RolledOut";
  const stuck = await world.until(deployed("broken"), (object) =>
    Boolean(
      object?.status?.conditions?.some(
        ({ type, reason }) => rolledOut(type) && reason === "NewPodsDoNotStart",
      ),
    ),
  );
  expect(stuck?.status?.conditions?.find(({ type }) => rolledOut(type))?.message).toMatch(/exit code 3/);
  expect(await revisions()).toEqual(expect.arrayContaining(before));
  await world.applyReady(task("meanwhile", 1));
  await cluster.apply(deployed("tasks:2"));
  await eventually(async () => expect(await revisions()).toHaveLength(1));
}, 120_000);

it("a paused function starts no Pod and reports it; resumed, it runs the keys that were due", async () => {
  const { cluster } = world;
  await cluster.apply(deployed("tasks:1", { paused: true }));
  await world.until(deployed("tasks:1"), (object) => conditionOf(object)?.reason === "Paused");
  await cluster.apply(task("held", 1));
  await eventually(async () =>
    expect((await cluster.get(deployed("any")))?.status).toMatchObject({
      due: 0,
      oldestDueSeconds: 0,
      pausedKeys: 1,
      paused: true,
    }),
  );
  expect(lines()).toEqual([]);
  await cluster.apply(deployed("tasks:1", { paused: false }));
  await world.until(task("held", 0), isReady);
}, 120_000);

it("an object that is paused keeps no Pod, and has one started once it is resumed", async () => {
  const { cluster } = world;
  const scaling = { min: 0, max: 2, idleAfter: "1s" } as const;
  await cluster.apply(deployed("tasks:1", { scaling }));
  const annotated = (paused: "true" | null) =>
    withMetadata(task("held", 1), { annotations: { "drover.dev/paused": paused } });
  await world.removed(task("held", 1));
  await cluster.apply(annotated("true"));
  await world.applyReady(task("free", 1));
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));
  expect((await cluster.get(task("held", 0)))?.metadata.finalizers).toBeUndefined();
  await cluster.apply(annotated(null));
  await world.until(task("held", 0), isReady);
  await cluster.apply(deployed("tasks:1"));
}, 120_000);

it("a deleted Pod is replaced, and changes to the function's objects are reverted", async () => {
  const { cluster } = world;
  await cluster.apply(deployed("tasks:1"));
  await world.until(deployed("any"), isReady);
  const [pod] = await world.pods("tasks");
  await cluster.remove(core("Pod", pod?.metadata.name ?? ""));
  await eventually(async () => {
    const names = (await world.pods("tasks")).map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(1);
    expect(names).not.toContain(pod?.metadata.name);
  });
  const service = core("Service", "tasks");
  await cluster.apply({ ...service, spec: { selector: { "drover.dev/function": "others" } } });
  await eventually(async () =>
    expect(await cluster.get(service)).toMatchObject({
      spec: { selector: { "drover.dev/function": "tasks" } },
    }),
  );
}, 120_000);

it("objects of another owner are left alone and reported", async () => {
  const { cluster } = world;
  const taken = core("ServiceAccount", "others");
  await cluster.apply(taken);
  const others = withMetadata(deployed("tasks:1"), { name: "others" });
  await cluster.apply(others);
  const refused = await world.until(others, (object) => conditionOf(object)?.reason === "NameTaken");
  expect(conditionOf(refused)?.message).toMatch(
    /ServiceAccount default\/others exists and does not belong to this function/,
  );
  await world.removed(others);
  expect(await cluster.get(taken)).toBeDefined();
}, 120_000);

it("a function that is deleted ends its runs, and leaves no permission and no user behind", async () => {
  const { cluster } = world;
  await cluster.apply(deployed("tasks:1"));
  await world.until(deployed("any"), isRolledOut);
  await cluster.apply(task("last", 3_000));
  await eventually(() => expect(lines()).toContain("tasks:1 begins default/last"));
  const clusterRole = "/apis/rbac.authorization.k8s.io/v1/clusterroles/drover:default:tasks";
  expect(await cluster.read(clusterRole)).toBeDefined();
  expect(await usersOf(world, "tasks")).toHaveLength(1);
  await world.removed(deployed("any"));
  expect(lines().slice(-1)).toEqual(["tasks:1 ends default/last"]);
  expect(await cluster.read(clusterRole)).toBeUndefined();
  expect(await usersOf(world, "tasks")).toEqual([]);
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));
}, 120_000);
