import { findRedis7, freePort, privateTls, redisRequest, startRedis } from "@drover/local-servers";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { folderOfFile } from "../../../packages/testing/src/folder.fixture.ts";
import { startProcess } from "../../harness/start-process.ts";
import { deployedWorldOfFile } from "../stage/deployed-world.ts";
import { Task, task, tasksCommand, tasksFunction } from "../functions/tasks.ts";
import { eventually, startWorld } from "../stage/world.ts";

const folder = folderOfFile();
const [tls, port] = [await privateTls(folder, "redis"), await freePort()];
const executable = await findRedis7();
const world = await deployedWorldOfFile(
  [Task],
  { "tasks:1": { command: tasksCommand } },
  { DROVER_REDIS_URL: `rediss://127.0.0.1:${port}`, DROVER_REDIS_CA_FILE: tls.caFile },
  startWorld(() => startRedis({ persistence: true, executable, args: tls.args(port) })),
);

const containerSchema = z.looseObject({
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
});
const podsSchema = z.looseObject({
  items: z.array(z.looseObject({ spec: z.looseObject({ containers: z.tuple([containerSchema]) }) })).min(1),
});
const secretSchema = z.looseObject({ data: z.record(z.string(), z.string()) });

it("a function's Pod connects with the authority that the deployer was given, and does not without", async () => {
  const { cluster, redis } = world;
  const container = { image: "tasks:1", journal: join(folder, "journal") };
  await cluster.apply(tasksFunction(container, { scaling: { min: 1 } }));
  await world.applyReady(task("encrypted", 1));
  // Redis itself reports the port at which it accepted the function's user.
  const clients = ((await redisRequest(redis.port, ["CLIENT", "LIST"])) ?? "").split("\n");
  const ofFunction = clients.filter((line) => line.includes("user=function:default/tasks/"));
  expect(ofFunction.length).toBeGreaterThan(0);
  expect(ofFunction.filter((line) => !line.includes(`laddr=127.0.0.1:${port} `))).toEqual([]);

  const refusal = await startedAsItsPod({ without: "DROVER_REDIS_CA_FILE" });
  expect(refusal).toMatch(/presents a certificate that is not trusted.*DROVER_REDIS_CA_FILE/);
  expect(await startedAsItsPod({})).toMatch(/Taking keys/);
}, 120_000);

/** A process with the environment of the function's Pod and the files of its Secret, as the API server has both: its log. */
async function startedAsItsPod({ without }: { readonly without?: string }): Promise<string> {
  const { cluster } = world;
  const pods = podsSchema.parse(
    await cluster.read("/api/v1/namespaces/default/pods?labelSelector=drover.dev%2Ffunction%3Dtasks"),
  );
  const secret = secretSchema.parse(await cluster.read("/api/v1/namespaces/default/secrets/tasks-redis"));
  const mount = join(folder, `mounted-${without ?? "all"}`);
  await mkdir(mount);
  for (const [name, data] of Object.entries(secret.data)) {
    await writeFile(join(mount, name), Buffer.from(data, "base64"), { mode: 0o440 });
  }
  const env = (pods.items[0]?.spec.containers[0].env ?? [])
    .filter(({ name }) => name !== without)
    .map(({ name, value = "127.0.0.1" }): [string, string] => [
      name,
      value.replace("/var/run/drover/redis", mount),
    ]);
  const child = await startProcess({
    name: "tasks",
    main: "verification/end-to-end/functions/tasks.ts",
    logFile: join(folder, `${without ?? "all"}.log`),
    env: { ...Object.fromEntries(env), DROVER_HTTP_PORT: "0", DROVER_KUBECONFIG: cluster.kubeconfig },
  });
  const isDone = (log: string) => /Taking keys|not trusted/.test(log);
  await eventually(async () => expect(isDone(await readFile(child.logFile, "utf8"))).toBe(true));
  await child.stop();
  return readFile(child.logFile, "utf8");
}
