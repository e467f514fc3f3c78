import { customResourceDefinition, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, installCrd } from "@drover/kube";
import { objectKey } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue, queuePrefix, redisUserRules } from "@drover/queue";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bareRedisOfFile } from "../../../../packages/queue/src/redis/redis.fixture.ts";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { renewLeases } from "../testing/renew-leases.ts";
import { version } from "../package/version.ts";
import { describeState, finishMigration, readState } from "./migrate.ts";

const { client } = await sandboxOfFile({ namespaces: ["web", "drover"] });
const { server, redis: admin } = await bareRedisOfFile();
const rules = redisUserRules({ role: "bridge", controllers: "all" });
await admin.call("ACL", "SETUSER", "bridge", ...rules.split(" "), ">secret");
const url = server.url.replace("//", "//bridge:secret@");
const bridge = await connectRedis({ url, clientName: "bridge", log: silentLog, recordScriptsAs: version });
const queue = queueOf({ namespace: "web", name: "forks", uid: "u1" });
const other = queueOf({ namespace: "web", name: "knives", uid: "u2" });
afterAll(() => disconnectRedis(bridge));

const state = () => readState(client, bridge, "drover");
const described = async () => (await state().then(describeState)).join("\n");
const finish = async () => finishMigration(bridge, await state());
/** Records scripts of an older version, as its bridge has done ten minutes ago. */
async function recordOld(age = 600_000): Promise<string> {
  const text = JSON.stringify(["return 'old'"]);
  const name = createHash("sha256").update(text).digest("hex");
  await admin.set(`{drover-scripts}:${name}`, text);
  await admin.hset("{drover-scripts}", name, `${Date.now() - age} 0.0.9`);
  return name;
}

beforeAll(async () => {
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
});

it("refuses while parts do not run, and while they run in different versions", async () => {
  await expect.poll(() => admin.exists("{drover-scripts}")).toBe(1);
  await expect(finish()).rejects.toThrow(/not finished:\n {2}No bridge .*\n {2}No deployer /);
  await renewLeases(client, "bridge", "deployer");
  const writeHolder = (name: string, holderIdentity: string) =>
    client.patch(builtin.lease, objectKey({ namespace: "drover", name }), {
      type: "merge",
      body: { spec: { holderIdentity } },
    });
  await writeHolder("bridge", "host_0.0.9");
  await expect(finish()).rejects.toThrow(
    `different versions: bridge 0.0.9, deployer ${version}. Update them`,
  );
  await writeHolder("deployer", "host_0.0.9");
  await expect(finish()).rejects.toThrow(
    `This command is ${version}, and the parts are 0.0.9. Use the drover of that version.`,
  );
  for (const part of ["bridge", "deployer"]) await writeHolder(part, `host_${version}`);
  expect(await finish()).toEqual([
    "Nothing to finish: only the scripts of the present version are recorded.",
  ]);
});

it("refuses while a function needs the scripts of another version, also if it has no process, and names it", async () => {
  const old = await recordOld();
  const prefix = queuePrefix(other);
  // Its last worker ran an hour ago.
  await admin.hset(`${prefix}:control`, "newest", "1");
  await admin.hset(`${prefix}:scripts`, old, Date.now() - 3_600_000);
  await expect(finish()).rejects.toThrow(
    `web/knives needs the scripts of 0.0.9 (${old.slice(0, 8)}). Update its image, and let it run.`,
  );
  expect(await described()).toContain(`--finish refuses: web/knives needs the scripts of 0.0.9`);
  await admin.del(`${prefix}:scripts`);
  await expect(finish()).rejects.toThrow("web/knives last ran in a version that does not state its scripts.");
  await admin.hset(`${prefix}:scripts`, "f".repeat(64), Date.now());
  await expect(finish()).rejects.toThrow("web/knives needs scripts that are not recorded (ffffffff)");
  await admin.hset(`${prefix}:scripts`, await ownSetOfBridge(), Date.now() - 1);
  // The newer of two that are over, and both while both live.
  await admin.hset(`${prefix}:scripts`, "f".repeat(64), Date.now() - 2_000);
  expect((await state()).queues).toEqual([{ queue: other, sets: [await ownSetOfBridge()] }]);
  await admin.hset(`${prefix}:scripts`, "f".repeat(64), Date.now() + 60_000);
  await expect(finish()).rejects.toThrow("web/knives needs scripts that are not recorded (ffffffff)");
  await admin.del(`${prefix}:control`, `${prefix}:scripts`);
  expect(await admin.hexists("{drover-scripts}", old)).toBe(1);
});

const ownSetOfBridge = async (): Promise<string> =>
  (await state()).recorded.find((set) => set.version === version)?.name ?? "";

it("refuses while a bridge of another version may run", async () => {
  const old = await recordOld(60_000);
  await expect(finish()).rejects.toThrow(
    /with the scripts of .* and the scripts of .* have run within three/,
  );
  await recordOld();
  expect(await described()).toContain(`--finish would remove the scripts of 0.0.9 (${old.slice(0, 8)}).`);
});

it("removes what nothing uses any more, and leaves the scripts of a running function", async () => {
  const old = await recordOld();
  const redis = await connectRedis({ url: server.url, clientName: "function", log: silentLog });
  const work = openWorkQueue({ redis, controller: queue, log: silentLog, upkeep: "own" });
  const worker = work.work(() => Promise.resolve({ kind: "done" }), { concurrency: 1, timeout: 1_000 });
  await expect.poll(() => admin.exists(`${queuePrefix(queue)}:scripts`)).toBe(1);
  const text = await described();
  expect(text).toContain(
    `This command is of Drover ${version}: ledger 1, index 1, contract v2, kinds v1alpha1`,
  );
  expect(text).toMatch(
    new RegExp(`${(await ownSetOfBridge()).slice(0, 8)} +${version.replaceAll(".", "\\.")} .* web/forks`),
  );
  expect(await finish()).toEqual([`Removed the scripts of 0.0.9 (${old.slice(0, 8)}).`]);
  expect(await admin.keys("{drover-scripts}:*")).toEqual([`{drover-scripts}:${await ownSetOfBridge()}`]);
  expect(await described()).toContain("--finish has nothing to do.");
  await worker.drain(0);
  await work.close();
  await disconnectRedis(redis);
});

it("refuses in a Redis in which no bridge records, and to a user who may not read the record", async () => {
  const empty = { ...(await state()), recorded: [] };
  await expect(finishMigration(bridge, empty)).rejects.toThrow(
    "No bridge and no deployer has recorded its scripts in this Redis",
  );
  const operator = redisUserRules({ role: "operator", controllers: "all" });
  await admin.call("ACL", "SETUSER", "operator", ...operator.split(" "), ">secret");
  const theirs = server.url.replace("//", "//operator:secret@");
  const redis = await connectRedis({ url: theirs, clientName: "o", log: silentLog, loadsScripts: false });
  await expect(readState(client, redis, "drover")).rejects.toThrow(/Redis does not permit this/);
  await disconnectRedis(redis);
});
