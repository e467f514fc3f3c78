import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withMetadata } from "../../harness/manifests.ts";
import { deployedWorldOfFile, passwordOf, redisPasswords, usersOf } from "../stage/deployed-world.ts";
import { Task, task, tasksCommand, tasksFunction } from "../functions/tasks.ts";
import { eventually } from "../stage/world.ts";

const images = { "tasks:1": { command: tasksCommand } };
const world = await deployedWorldOfFile([Task], images, { DROVER_ROTATE_EVERY: "1s" });

const hashOf = async (): Promise<string> => {
  const password = await passwordOf(world, { namespace: "default", name: "tasks" });
  return createHash("sha256").update(password).digest("hex");
};

it("a function's password is changed while it works, and the old one is good for nothing then", async () => {
  const { cluster, folder } = world;
  const deployed = tasksFunction(
    { image: "tasks:1", journal: join(folder, "journal") },
    { scaling: { min: 1 } },
  );
  await cluster.apply(deployed);
  await world.applyReady(task("before", 1));
  const before = await hashOf();
  // Whatever has it reconciled: it looks at how old the password is.
  const touch = async (n: number) =>
    cluster.apply(withMetadata(deployed, { annotations: { touched: String(n) } }));
  let n = 0;
  await eventually(async () => {
    await touch(n++);
    expect(await hashOf()).not.toBe(before);
  });
  await world.applyReady(task("meanwhile", 1));
  await eventually(async () => {
    await touch(n++);
    const [user = ""] = await usersOf(world, "tasks");
    expect(await redisPasswords(world, user)).not.toContain(before);
  });
  await world.applyReady(task("after", 1));
}, 120_000);
