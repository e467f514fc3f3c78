import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { root } from "../harness/repository-files.ts";
import { askRedis } from "./ask-redis.ts";
import { chart, type Helm, setJson } from "./helm.ts";
import { type ProcessCluster, processValues, redisAddress, startProcessCluster } from "./process-cluster.ts";

// A real API server with all its controllers, and a node that runs the containers as processes: the parts of Drover, and a
// Redis 7 in place of Valkey. Each part has the permissions of its account. kubectl and openssl judge.
const folder = folderOfFile();
const run = promisify(execFile);
const parts = ["bridge", "deployer", "gateway"] as const;
let processes: ProcessCluster;
let helm: Helm;
const kubectl = (...args: readonly string[]): Promise<string> => processes.kubectl(...args);
const inDrover = (...args: readonly string[]): Promise<string> => kubectl("--namespace=drover", ...args);
const install = (command: "install" | "upgrade", more: object = {}): Promise<string> =>
  helm.run(
    ...[command, "drover", chart, "--namespace=drover"],
    ...(command === "install" ? ["--create-namespace"] : []),
    `--set-json=${setJson({ ...processValues, ...more })}`,
  );

beforeAll(async () => {
  processes = await startProcessCluster(folder, async (kubeconfigOf) =>
    Object.fromEntries(
      await Promise.all(
        parts.map(async (part) => {
          const command = [process.execPath, join(root, `apps/${part}/src/main.ts`)];
          const env = { DROVER_KUBECONFIG: await kubeconfigOf("drover", part) };
          return [`drover/${part}:0.1.0`, { command, env }] as const;
        }),
      ),
    ),
  );
  ({ helm } = processes);
}, 600_000);
afterAll(() => processes.stop());

const ready = async (): Promise<void> => {
  const wait = ["rollout", "status", "--timeout=180s"];
  await Promise.all(
    [...parts.map((part) => `deployment/${part}`), "statefulset/valkey"].map((what) =>
      inDrover(...wait, what),
    ),
  );
};
const secret = async (name: string, key: string): Promise<string> => {
  const path = `jsonpath={.data.${key.replace(".", "\\.")}}`;
  return Buffer.from(await inDrover("get", "secret", name, "-o", path), "base64").toString();
};
async function ask(user: string, password: string, ...lines: readonly string[]): Promise<string> {
  const ca = await inDrover("get", "configmap", "redis-ca", "-o", "jsonpath={.data.ca\\.crt}");
  const redis = { address: `${redisAddress}:6379`, named: ["-verify_ip", redisAddress] as const, ca };
  return askRedis(redis, folder, `AUTH ${user} ${password}`, ...lines);
}
const asAdmin = async (...lines: readonly string[]): Promise<string> =>
  ask("admin", await secret("admin-redis", "password"), ...lines);

it("one helm install makes all parts ready, with passwords that are in no template", async () => {
  await install("install");
  const manifest = await helm.run("get", "manifest", "drover", "--namespace=drover");
  expect(manifest).not.toMatch(/^kind: Secret$/m);
  await ready();
  for (const part of parts) expect(manifest).not.toContain(await secret(`${part}-redis`, "password"));
  const list = await asAdmin("ACL LIST", "CONFIG GET appendfsync", "CLIENT LIST");
  expect([...list.matchAll(/^user (\S+) (on|off)/gm)].map(([, name, state]) => `${name} ${state}`)).toEqual([
    "admin on",
    "bridge on",
    "default off",
    "deployer on",
    "gateway on",
    "operator on",
  ]);
  expect(list).toMatch(/appendfsync\r\n\$6\r\nalways/);
  for (const part of parts) expect(list).toMatch(new RegExp(`user=${part} `));
  await inDrover(
    "wait",
    "--for=condition=Ready",
    "--timeout=60s",
    "reconcilefunction/reconcilefunctions.drover.dev",
  );
}, 400_000);

it("every part can be started again", async () => {
  const [before] = await asAdmin("INFO server").then((info) => /run_id:\w+/.exec(info) ?? []);
  await inDrover("rollout", "restart", "statefulset/valkey", ...parts.map((part) => `deployment/${part}`));
  await ready();
  expect(await asAdmin("INFO server")).not.toContain(before);
}, 400_000);

it("a deleted password is another one after its part was started again", async () => {
  const old = await secret("gateway-redis", "password");
  await inDrover("delete", "secret", "gateway-redis");
  // In the test's time, not in a minute.
  await inDrover("rollout", "restart", "deployment/deployer");
  await ready();
  await inDrover("rollout", "restart", "deployment/gateway");
  await ready();
  const password = await secret("gateway-redis", "password");
  expect(password).not.toBe(old);
  expect(await ask("gateway", password, "PING")).toContain("+PONG");
  expect(await ask("gateway", old, "PING")).toContain("WRONGPASS");
}, 400_000);

it("an upgrade to two of each part changes no secret, and adds disruption budgets", async () => {
  const versions = async () => inDrover("get", "secrets,configmaps", "-l", made, "-o", columns);
  const before = await versions();
  await install("upgrade", Object.fromEntries(parts.map((part) => [part, { replicas: 2 }])));
  await ready();
  expect(await versions()).toBe(before);
  expect((await inDrover("get", "poddisruptionbudgets", "-o", "name")).trim().split("\n")).toHaveLength(3);
}, 400_000);
const made = "app.kubernetes.io/managed-by=drover-deployer";
const columns = "jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{'\\n'}{end}";

it("after an uninstallation the kinds, their objects and the secrets stay, and the next installation takes them up", async () => {
  const metadata = { name: "later.example.com", namespace: "default" };
  const ofUser = {
    apiVersion: "drover.dev/v1alpha1",
    kind: "ReconcileFunction",
    metadata,
    spec: { for: { group: "batch", version: "v1", kind: "Job", plural: "jobs", scope: "Namespaced" } },
  };
  const applying = run(processes.cluster.kubectl, ["apply", "-f", "-"]);
  applying.child.stdin?.end(JSON.stringify(ofUser));
  await applying;
  const uid = () => kubectl("get", "reconcilefunction", metadata.name, "-o", "jsonpath={.metadata.uid}");
  const [before, password] = [await uid(), await secret("admin-redis", "password")];
  await helm.run("uninstall", "drover", "--namespace=drover", "--wait");
  expect(await inDrover("get", "deployments,statefulsets,services,networkpolicies", "-o", "name")).toBe("");
  for (const kind of ["clusterroles", "clusterrolebindings", "validatingadmissionpolicies"]) {
    expect(await kubectl("get", kind, "-o", "name")).not.toMatch(/\/drover-[a-z-]+$/m);
  }
  const path = "jsonpath={.metadata.name} {.metadata.deletionTimestamp}";
  for (const kind of ["reconcilefunctions.drover.dev", "authorepochs.drover.dev"]) {
    expect(await kubectl("get", "crd", kind, "-o", path)).toBe(`${kind} `);
  }
  expect([await uid(), await secret("admin-redis", "password")]).toEqual([before, password]);

  await install("install");
  await ready();
  expect([await uid(), await secret("admin-redis", "password")]).toEqual([before, password]);
  await kubectl("wait", "--for=condition=Ready", "--timeout=60s", `reconcilefunction/${metadata.name}`);
}, 400_000);
