// An installation as a new user has it: the chart from a registry, `drover` from npm, nothing of this repository.
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { spawnTied } from "@drover/local-servers";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { askRedis } from "../chart/ask-redis.ts";
import { type EmptyMachine, openEmptyMachine } from "../install/empty-machine.ts";
import { npm, packPackage } from "../install/pack-package.ts";
import { startRegistry } from "../install/registry.ts";
import { type EmptyCluster, parts, redisValue, startEmptyCluster } from "./chart-in-pods.ts";
import { writeDockerStandIn } from "./docker-stand-in.ts";
import { eventually } from "./pod-cluster.ts";

const folder = folderOfFile();
let cluster: EmptyCluster;
let machine: EmptyMachine;
let registry: Awaited<ReturnType<typeof startRegistry>>;

beforeAll(async () => {
  cluster = await startEmptyCluster(folder);
  registry = await startRegistry(await packPackage(), npm("config", "get", "registry").trim());
  machine = await openEmptyMachine(registry.url, { KUBECONFIG: cluster.kubeconfigOutside });
  const bin = join(machine.path, "bin");
  copyFileSync(cluster.helm.command, join(bin, "helm"));
  copyFileSync(cluster.kubectlCommand, join(bin, "kubectl"));
  writeDockerStandIn(join(bin, "docker"), cluster);
}, 900_000);
afterAll(async () => {
  machine.close();
  registry.close();
  await cluster.stop();
});

const greeting = z.object({
  metadata: z.object({ generation: z.number() }),
  status: z.object({ text: z.string(), observedGeneration: z.number() }),
});
const commands: string[] = [];
/** Types a command, as the user. */
async function type(line: string, where = "projects"): Promise<string> {
  const from = performance.now();
  const { code, output } = await machine.run(line.split(" "), where);
  commands.push(line);
  console.log(`${((performance.now() - from) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  expect(code, output).toBe(0);
  return output;
}

it("six commands lead from nothing to an object that a new function has reconciled", async () => {
  const from = performance.now();
  const function_ = "projects/greetings";
  await type(
    `helm install drover ${cluster.chartUrl} --plain-http -n drover --create-namespace --wait --set ${redisValue}`,
  );
  await cluster.installed();
  console.log(`${((performance.now() - from) / 1_000).toFixed(1).padStart(6)} s  until all parts are ready`);
  await type("npx --yes drover init greetings");
  await type("npm install", function_);
  await type("npx drover deploy --push registry.example.com/greetings:0.1.0", function_);
  await type("kubectl apply -f example.yaml", function_);
  await type("kubectl wait --for=condition=Ready --timeout=120s greeting/hello", function_);
  console.log(`${((performance.now() - from) / 1_000).toFixed(1).padStart(6)} s  in all`);
  expect(commands.length).toBeLessThanOrEqual(6);
  expect(await cluster.get("greeting/hello", greeting)).toMatchObject({ status: { text: "Hello, Ada!" } });
}, 600_000);

const greet = (name: string) =>
  cluster.kubectl([
    ...["patch", "greeting", "hello", "--type=merge", "-p", JSON.stringify({ spec: { name } })],
  ]);
const greeted = (name: string) =>
  eventually(async () => {
    const { metadata, status } = await cluster.get("greeting/hello", greeting);
    expect(status).toEqual({ text: `Hello, ${name}!`, observedGeneration: metadata.generation });
  });

const podList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), uid: z.string() }),
      spec: z.object({ nodeName: z.string() }),
      status: z.object({ containerStatuses: z.array(z.object({ restartCount: z.number() })) }),
    }),
  ),
});
const podsOf = async (component: string) => {
  const label = `drover.dev/component=${component}`;
  return podList.parse(JSON.parse(await cluster.inDrover("get", "pods", "-l", label, "-o", "json"))).items;
};

it("no container had to start twice, and Pods that are not restricted are refused", async () => {
  const pods = (await Promise.all([...parts, "redis"].map(podsOf))).flat();
  expect(pods.map(({ status }) => status.containerStatuses[0]?.restartCount)).toEqual([0, 0, 0, 0]);
  const run = cluster.inDrover("run", "free", "--image=drover/bridge:0.1.0", "--dry-run=server");
  await expect(run).rejects.toThrow(/violates PodSecurity "restricted:latest"/);
});

/** Ends a Pod, and waits for the one in its place. */
async function replace(component: string): Promise<void> {
  const [pod] = await podsOf(component);
  await cluster.inDrover("delete", "pod", pod?.metadata.name ?? "");
  await cluster.installed();
  const [next, ...more] = await podsOf(component);
  expect(more).toEqual([]);
  expect(next?.metadata.uid).not.toBe(pod?.metadata.uid);
}

it.each(parts)("the Pod of the %s may be deleted: another one does its work", async (part) => {
  await replace(part);
  await greet(part);
  await greeted(part);
});

const path = (kind: string, name: string, field: string) =>
  cluster.inDrover("get", kind, name, "-o", `jsonpath={${field}}`);
const passwordOf = async (user: string): Promise<string> =>
  Buffer.from(await path("secret", `${user}-redis`, ".data.password"), "base64").toString();
const authority = () => path("configmap", "redis-ca", ".data.ca\\.crt");

it("the drover command reaches the queues by kubectl port-forward, as a user for people", async () => {
  const opened = Promise.withResolvers<string>();
  const forward = await spawnTied({
    name: "kubectl port-forward",
    command: cluster.kubectlCommand,
    args: ["port-forward", "-n", "drover", "statefulset/valkey", ":6379"],
    env: { KUBECONFIG: cluster.kubeconfigOutside },
    logFile: join(folder, "port-forward.log"),
    onLine: (line) => opened.resolve(/127\.0\.0\.1:(\d+) ->/.exec(line)?.[1] ?? line),
  });
  onTestFinished(async () => {
    await forward.stop();
  });
  const ca = join(folder, "redis-ca.crt");
  writeFileSync(ca, await authority());
  const redis = `rediss://operator:${await passwordOf("operator")}@localhost:${await opened.promise}`;
  const command = ["npx", "drover", "why", "greeting/hello"];
  const { code, output } = await machine.run(
    ["env", `DROVER_REDIS_CA_FILE=${ca}`, `DROVER_REDIS_URL=${redis}`, ...command],
    "projects/greetings",
  );
  expect(code, output).toBe(0);
  expect(output).toMatch(/next run/i);
});

it("the Pod of the server may be deleted: the next one has its data, and functions go on", async () => {
  const password = await passwordOf("admin");
  const ca = await authority();
  const { port } = await cluster.reach(await path("service", "valkey", ".spec.clusterIP"), 6379);
  const redis = {
    address: `127.0.0.1:${port}`,
    named: ["-verify_hostname", "valkey.drover"] as const,
    ca,
  };
  const ask = (...lines: readonly string[]) => askRedis(redis, folder, `AUTH admin ${password}`, ...lines);
  const runIdOf = (text: string) => /run_id:\w+/.exec(text)?.[0];

  // By a script, as Drover writes: Redis replays that as a transaction.
  const script = `EVAL "redis.call('SET', 'a', 'left') redis.call('SET', 'b', 'here')" 0`;
  const before = await ask(script, "INFO server");
  await replace("redis");
  const after = await eventually(() => ask("MGET a b", "DEL a b", "INFO server"));
  expect(after).toContain("*2\r\n$4\r\nleft\r\n$4\r\nhere\r\n");
  expect(runIdOf(after)).not.toBe(runIdOf(before));
  await greet("Grace");
  await greeted("Grace");
});
