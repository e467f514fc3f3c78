import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensurePrograms, isRunning, processesWith } from "@drover/local-servers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { folderOfFile } from "../../../../packages/testing/src/folder.fixture.ts";
import { killed, startModule } from "../../../local-servers/src/processes/module-process.fixture.ts";
import { buildRealCluster, nodeTargets } from "../build.ts";
import { FailedInsideError } from "./enter-namespaces.ts";
import { type NodeCluster, startClusterWithNode } from "./start-with-node.ts";

const run = async (command: string, ...args: readonly string[]) =>
  (await promisify(execFile)(command, args)).stdout;

const parent = folderOfFile();
let bin: string;
let cluster: NodeCluster;
/** The system's links, firewall rules and mounts. */
const ofTheSystem = async () => [
  (await run("ip", "-o", "link")).split("\n").length,
  await run("iptables-save"),
  await readFile("/proc/self/mounts", "utf8"),
  await readFile("/proc/sys/kernel/panic", "utf8"),
];
let before: readonly unknown[];
beforeAll(async () => {
  ({ bin } = await buildRealCluster({ targets: nodeTargets, log: (line) => console.log(line) }));
  // Asked before a first start would install them.
  await ensurePrograms({ "iptables-save": "iptables", ip: "iproute2" });
  before = await ofTheSystem();
  cluster = await startClusterWithNode({ dir: parent });
}, 3_600_000);
afterAll(() => cluster.stop());

it("has a node that is Ready, and is asked from inside and outside", async () => {
  const ready = '-o=jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}';
  expect(await cluster.kubectl(["get", "nodes", ready])).toBe("True");
  const kubectl = join(bin, "kubectl");
  const outside = `--kubeconfig=${cluster.kubeconfigOutside}`;
  expect(await run(kubectl, outside, "get", "nodes", ready)).toBe("True");
  const inside = `--kubeconfig=${cluster.kubeconfig}`;
  expect(await cluster.exec([kubectl, inside, "get", "nodes", ready])).toBe("True");
});

it("runs programs inside, with input and environment; the error has the output of a failed one", async () => {
  expect(
    await cluster.exec(["sh", "-c", "cat; echo $GREETING"], { input: "a", env: { GREETING: "b" } }),
  ).toBe("ab\n");
  expect(await cluster.exec(["ip", "-o", "address", "show", "node0"])).toContain("10.99.0.1/24");
  expect(await cluster.exec(["getent", "hosts", "kubernetes.default.svc.cluster.local"])).toMatch(
    /^10\.0\.0\.1 /,
  );
  const failing = cluster.exec(["sh", "-c", "echo why >&2; exit 3"]);
  await expect(failing).rejects.toThrow(FailedInsideError);
  await expect(failing).rejects.toThrow(/failed:\nwhy$/);
});

it("starts processes inside that end when they are asked to, or are killed when they do not", async () => {
  const start = async (script: string) => {
    const up = Promise.withResolvers<undefined>();
    const logFile = join(cluster.dir, "process.log");
    const onLine = () => up.resolve(undefined);
    const child = await cluster.spawn({
      name: "process",
      command: "sh",
      args: ["-c", script],
      logFile,
      onLine,
    });
    await up.promise;
    return child;
  };
  const orderly = await start("trap 'exit 4' TERM; echo up; while :; do sleep 0.1; done");
  expect(await orderly.stop({ graceMs: 60_000 })).toEqual({ code: 4, signal: null });
  const marker = `${cluster.dir}/deaf`;
  const deaf = await start(`trap '' TERM; echo up; : ${marker}; while :; do sleep 0.1; done`);
  expect(await processesWith(marker)).not.toEqual([]);
  await deaf.stop({ graceMs: 10 });
  await vi.waitFor(async () => expect(await processesWith(marker)).toEqual([]));
});

it("runs other controllers while the API server stays: nothing becomes of a Deployment without its own", async () => {
  const kubectl = (command: string) => cluster.kubectl(command.split(" "));
  await cluster.runControllers(["*", "-deployment-controller", "-replicaset-controller"]);
  await kubectl("create deployment alone --image=none --replicas=2");
  // The others work: what is in a namespace goes with it, and that takes longer than a ReplicaSet would.
  await kubectl("create namespace passing");
  await kubectl("create configmap content -n passing");
  await kubectl("delete namespace passing --timeout=60s");
  expect(await kubectl("get replicasets -o name")).toBe("");

  await cluster.stopControllers();
  await expect(cluster.runControllers(["no-such-controller"])).rejects.toThrow(/no-such-controller/);
  await cluster.runControllers(["*"]);
  await kubectl("wait --timeout=60s --for=jsonpath={.status.replicas}=2 deployment/alone");
  await kubectl("delete deployment alone --timeout=60s --cascade=foreground");
});

it("runs beside another one; stopped, that leaves nothing", async () => {
  const folder = await mkdtemp(join(parent, "other-"));
  const other = await startClusterWithNode({ dir: folder });
  expect(isRunning(other.pid)).toBe(true);
  await other.stop();
  await other.stop();
  expect(isRunning(other.pid)).toBe(false);
  expect(await readdir(folder)).toEqual([]);
  expect(await processesWith(folder)).toEqual([]);
  expect(await ofTheSystem()).toEqual(before);
  expect(await cluster.kubectl(["get", "nodes", "-o", "name"])).toBe("node/node\n");
});

it("leaves nothing when the process that started it is killed with SIGKILL", async () => {
  const folder = await mkdtemp(join(parent, "killed-"));
  const module = JSON.stringify(new URL("start-with-node.ts", import.meta.url).href);
  const source = `import { startClusterWithNode } from ${module};
    console.log((await startClusterWithNode({ dir: process.argv[1] })).pid);`;
  const { child, line } = await startModule(source, folder);
  const pid = Number(line);
  expect(isRunning(pid)).toBe(true);
  await killed(child);
  await vi.waitFor(
    async () => {
      expect(isRunning(pid)).toBe(false);
      expect(await readdir(folder)).toEqual([]);
      expect(await processesWith(folder)).toEqual([]);
      expect(await ofTheSystem()).toEqual(before);
    },
    { timeout: 30_000 },
  );
});

it("that does not start is an error with the reason, and leaves nothing", async () => {
  const folder = await mkdtemp(join(parent, "bad-flag-"));
  const starting = startClusterWithNode({ dir: folder, apiServerArgs: ["--no-such-flag"] });
  await expect(starting).rejects.toThrow(/unknown flag: --no-such-flag/);
  expect(await readdir(folder)).toEqual([]);
});
