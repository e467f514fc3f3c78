import { objectKey, queueOf, silentLog } from "@drover/controller";
import { openWorkQueue } from "@drover/queue";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { here, loggedProcess } from "../process/logged-process.fixture.ts";

const { server, redis } = await redisOfFile();
const secrets = folderOfFile();
writeFileSync(join(secrets, "current"), `whsec_${Buffer.alloc(24, 1).toString("base64")}`, { mode: 0o600 });
const identity = { namespace: "web", name: "cups", uid: "f-1" };
const plan = { DROVER_PLAN_SECRETS: secrets, DROVER_FUNCTION: "web/cups/f-1" };

/** Runs a function that ends by itself, with these variables. `open` is code with the process in `p`. */
const run = (env: Readonly<Record<string, string>>, open: string) =>
  loggedProcess(`
    import { defineController, defineResource } from "@drover/controller";
    import { functionSettings } from "${here}function-settings.ts";
    import { readSettings } from "${here}settings.ts";
    import { runFunction } from "${here}../worker/run-function.ts";
    import { z } from "zod";
    const Cup = defineResource({ group: "example.com", version: "v1", kind: "Cup", scope: "Namespaced",
      spec: z.looseObject({}), status: z.looseObject({}) });
    const story = [];
    await runFunction({
      name: "cups",
      settings: () => readSettings(functionSettings, ${JSON.stringify(env)}),
      controller: async (settings, p, identified) => {
        ${open}
        setImmediate(() => process.kill(process.pid, "SIGTERM"));
        return {
          controller: defineController({ for: Cup, reconcile: () => Promise.resolve(undefined) }),
          close: () => void story.push("controller"),
        };
      },
    });`);
const connections = async (): Promise<string> =>
  /total_connections_received:(\d+)/.exec(await redis.info("stats"))?.[1] ?? "";
const messages = (logged: readonly unknown[]) => logged.map((line) => (line as { msg: string }).msg);

it("opens and closes the controller as a process does, without connections", async () => {
  const { code, logged } = await run(
    plan,
    `p.closing("mine", async () => p.log.info("closed " + [...story, "mine"]));
     p.readiness("mine", () => "never");
     p.addEndpoint("/mine", () => undefined);
     const passedOn = await Promise.resolve(p.client);
     p.log.info(JSON.stringify([await identified(), p.stopping.aborted, String(passedOn === p.client)]));`,
  );
  expect(code).toBe(0);
  // The last lines may overtake earlier ones.
  expect(messages(logged).sort()).toEqual(
    [
      JSON.stringify([identity, false, "true"]),
      "Answering calls",
      "Stopping: taking no new work, finishing what runs",
      "closed controller,mine",
      "Stopped",
    ].sort(),
  );
});

it.each([
  ["p.client.get", "its client of the API server"],
  ["await p.client.watch({})", "its client of the API server"],
  ["await p.redis.ping()", "Redis"],
  ['p.redis.on("error", () => undefined)', "Redis"],
])("a function that uses %s ends, with the reason and what to do", async (use, what) => {
  const { code, logged } = await run(plan, `${use};`);
  expect(code).toBe(1);
  expect(messages(logged).join("\n")).toMatch(
    new RegExp(
      `^This is a plan .* may not use ${what}\\. Have it declare .*composeController.* without --image\\.$`,
      "m",
    ),
  );
});

it("a function that fails later ends with its error", async () => {
  const { code, logged } = await run(plan, 'setImmediate(() => p.fail(new Error("no more tea")));');
  expect([code, messages(logged)]).toEqual([1, expect.arrayContaining(["no more tea", "Stopped"])]);
});

it("takes no key, and connects to no Redis, also if its variables name one", async () => {
  const queue = openWorkQueue({ redis, controller: queueOf(identity), log: silentLog });
  const key = objectKey({ namespace: "default", name: "a" });
  await queue.wake([
    { key, kind: "cups.example.com", resourceVersion: "1", reason: "Added", class: "change" },
  ]);
  const before = await connections();
  const { code, logged } = await run({ ...plan, DROVER_REDIS_URL: server.url }, "");
  expect([code, messages(logged).join("\n")]).toEqual([
    1,
    expect.stringContaining("DROVER_REDIS_URL cannot be used with DROVER_PLAN_SECRETS. Leave one out."),
  ]);
  expect((await run(plan, "")).code).toBe(0);
  expect(await connections()).toBe(before);
  expect(await queue.inspect(key)).toMatchObject({ key: { fails: 0, reasons: ["Added"] }, runs: [] });
  await queue.close();
});

it("refuses to answer if it is not known for which function", async () => {
  const { code, logged } = await run({ ...plan, DROVER_FUNCTION: "web/cups" }, "");
  expect([code, messages(logged).join("\n")]).toEqual([
    1,
    expect.stringContaining("DROVER_FUNCTION has no uid."),
  ]);
});
