import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isRunning } from "@drover/local-servers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { crdOf } from "../../../packages/testing/src/crd-of.fixture.ts";
import { folderOfFile } from "../../../packages/testing/src/folder.fixture.ts";
import { killed, startModule } from "../../local-servers/src/processes/module-process.fixture.ts";
import { buildRealCluster } from "./build.ts";
import { startRealCluster, type RealCluster } from "./start.ts";

const run = promisify(execFile);
const gone = (pid: number) => vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 });

const crd = crdOf({
  group: "farm.test",
  kind: "Sheep",
  plural: "sheep",
  openAPIV3Schema: {
    type: "object",
    properties: { spec: { type: "object", properties: { wool: { type: "string" } } } },
  },
});
const dolly = {
  apiVersion: "farm.test/v1",
  kind: "Sheep",
  metadata: { name: "dolly" },
  spec: { wool: "white" },
};

const dir = folderOfFile();
beforeAll(async () => {
  await buildRealCluster({ log: (line) => console.log(line) });
}, 3_600_000);

describe("a real cluster", () => {
  let cluster: RealCluster;
  const kubectl = async (...args: string[]) => (await run(cluster.kubectl, args)).stdout;
  const apply = async (object: unknown) => {
    const file = join(dir, "object.json");
    await writeFile(file, JSON.stringify(object));
    return kubectl("apply", "-f", file);
  };

  beforeAll(async () => {
    // A folder that no shell should trip over.
    const parent = join(dir, "it's $HOME");
    await mkdir(parent);
    cluster = await startRealCluster({ dir: parent });
  });
  afterAll(() => cluster.stop());

  it("has the same version as its kubectl", async () => {
    const version = await kubectl("version");
    const [client, server] = [/Client Version: (v1\..*)/, /Server Version: (v1\..*)/].map(
      (p) => p.exec(version)?.[1],
    );
    expect(client).toBeDefined();
    expect(server).toBe(client);
  });

  it("takes a CRD and an object of that kind, and has them again after the API server was away", async () => {
    await apply(crd);
    // Not `--for=condition=...`: that fails at once on a definition which has no conditions yet (kubernetes#66439).
    const established = '--for=jsonpath={.status.conditions[?(@.type=="Established")].status}=True';
    await kubectl("wait", established, "crd/sheep.farm.test");
    await apply(dolly);

    await cluster.stopApiServer();
    await expect(kubectl("get", "sheep")).rejects.toThrow(/refused/);
    expect(cluster.pids()).toHaveLength(1);

    await cluster.startApiServer();
    expect(await kubectl("get", "sheep", "dolly", "-o", "jsonpath={.spec.wool}")).toBe("white");
    expect(cluster.pids()).toHaveLength(2);
  });

  it("comes back after an orderly end, too", async () => {
    await cluster.stopApiServer("SIGTERM");
    await cluster.startApiServer();
    expect(await kubectl("get", "namespace", "default", "-o", "name")).toBe("namespace/default\n");
  });

  it("creates Pods without a controller manager", async () => {
    const pod = { name: "pod", spec: { containers: [{ name: "main", image: "none" }] } };
    await apply({ apiVersion: "v1", kind: "Pod", metadata: { name: pod.name }, spec: pod.spec });
    expect(await kubectl("get", "pod", pod.name, "-o", "jsonpath={.status.phase}")).toBe("Pending");
  });
});

it("what is built already is not built again", async () => {
  const lines: string[] = [];
  await buildRealCluster({ log: (line) => lines.push(line) });
  expect(lines).toEqual([]);
});

it("two clusters run side by side, and a stopped one leaves no process and no folder", async () => {
  const parent = await mkdtemp(join(dir, "two-"));
  const [one, two] = await Promise.all([
    startRealCluster({ dir: parent }),
    startRealCluster({ dir: parent }),
  ]);
  const pids = [...one.pids(), ...two.pids()];
  expect(pids.map(isRunning)).toEqual([true, true, true, true]);
  expect(one.url).not.toBe(two.url);

  await one.stop();
  expect(pids.map(isRunning)).toEqual([false, false, true, true]);
  await two.stop();
  await two.stop();
  expect(pids.map(isRunning)).toEqual([false, false, false, false]);
  expect(await readdir(parent)).toEqual([]);
});

it("a start that is given up leaves nothing behind", async () => {
  const parent = await mkdtemp(join(dir, "given-up-"));
  const patience = new AbortController();
  const starting = startRealCluster({ dir: parent, signal: patience.signal });
  await vi.waitUntil(
    async () => (await readdir(parent, { recursive: true })).some((f) => f.endsWith("apiserver.log")),
    {
      timeout: 60_000,
    },
  );
  patience.abort(new Error("no patience"));
  await expect(starting).rejects.toThrow("no patience");
  expect(await readdir(parent)).toEqual([]);
});

it("a flag that the API server does not know is an error that shows its log, and leaves nothing behind", async () => {
  const parent = await mkdtemp(join(dir, "bad-flag-"));
  const starting = startRealCluster({ dir: parent, apiServerArgs: ["--no-such-flag"] });
  await expect(starting).rejects.toThrow(/kube-apiserver ended.*unknown flag: --no-such-flag/s);
  expect(await readdir(parent)).toEqual([]);
});

it("every process dies when the one that started them is killed with SIGKILL", async () => {
  const module = JSON.stringify(new URL("start.ts", import.meta.url).href);
  const source = `import { startRealCluster } from ${module};
    const cluster = await startRealCluster({ dir: process.argv[1] });
    console.log(...cluster.pids());`;
  const { child, line } = await startModule(source, dir);
  const pids = line.split(" ").map(Number);
  expect(pids.map(isRunning)).toEqual([true, true]);
  await killed(child);
  await Promise.all(pids.map(gone));
});
