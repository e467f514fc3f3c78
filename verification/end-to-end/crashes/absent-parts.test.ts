import { reconcileFunctionOf } from "@drover/controller";
import { expect, it } from "vitest";
import { inDefault } from "../../harness/manifests.ts";
import { deployedWorldOfFile } from "../stage/deployed-world.ts";
import { Task, taskController, tasksCommand } from "../functions/tasks.ts";
import type { TestObject } from "../stage/test-cluster.ts";
import { ofCluster } from "../stage/world.ts";

const lease = { DROVER_PART_LEASE: "2s" };
const world = await deployedWorldOfFile([Task], { tasks: { command: tasksCommand } }, lease);

const deployed = () =>
  inDefault(reconcileFunctionOf(taskController("", ""), { container: { image: "tasks" } }));
const has = (object: TestObject | undefined, condition: string): boolean =>
  (object?.status?.conditions ?? []).some(({ type }) => type === condition);
const withCondition =
  (condition: string) =>
  (object: TestObject | undefined): boolean =>
    has(object, condition) && has(object, "Ready");
const without =
  (condition: string) =>
  (object: TestObject | undefined): boolean =>
    !has(object, condition) && has(object, "Ready");
const messageOf = (object: TestObject | undefined, condition: string): unknown =>
  object?.status?.conditions?.find(({ type }) => type === condition)?.message;

it("a function's status reports since when no bridge runs, until one runs again", async () => {
  await world.cluster.apply(deployed());
  await world.until(deployed(), without("BridgeNotRunning"));
  world.bridge.kill("SIGKILL");
  const alone = await world.until(deployed(), withCondition("BridgeNotRunning"));
  expect(messageOf(alone, "BridgeNotRunning")).toMatch(
    /^No bridge has run since 20\d\d-.*: changes of objects start/,
  );
  await world.startBridge({ functions: ofCluster, awaited: "; watching", env: lease });
  await world.until(deployed(), without("BridgeNotRunning"));
}, 120_000);

it("the bridge reports since when no deployer runs, until one runs again", async () => {
  world.deployer.kill("SIGKILL");
  const alone = await world.until(deployed(), withCondition("DeployerNotRunning"));
  expect(messageOf(alone, "DeployerNotRunning")).toMatch(/^No deployer has run since 20\d\d-/);
  await world.startDeployer();
  await world.until(deployed(), without("DeployerNotRunning"));
}, 120_000);
