import { silentLog } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { findRedis7 } from "@drover/local-servers";
import { type LocalNode, startNode } from "@drover/process-kubelet";
import { type FakeNodeCluster, ownersAreChecked, startClusterWithFakeNodes } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { root } from "../harness/repository-files.ts";
import { compiled } from "../harness/start-process.ts";
import { chart, type Helm, openHelm, setJson } from "./helm.ts";

// A real API server with all its controllers, and a node that runs the containers as processes: the parts of Drover, and a
// Redis 7 in place of Valkey. Each part has the permissions of its account. kubectl and openssl judge.
const folder = folderOfFile();
const run = promisify(execFile);
const services = "127.77.0.0/16";
const address = "127.77.0.20";
const parts = ["bridge", "deployer", "gateway"] as const;
/** The node has no DNS, and no volumes that last. */
const values = {
  redis: { url: `rediss://${address}:6379` },
  valkey: { clusterIP: address, storage: { persistent: false } },
};

let cluster: FakeNodeCluster;
let client: KubeClient;
let node: LocalNode;
let helm: Helm;
const kubectl = async (...args: readonly string[]): Promise<string> =>
  (await run(cluster.kubectl, args, { maxBuffer: 2 ** 26 })).stdout;
const inDrover = (...args: readonly string[]): Promise<string> => kubectl("--namespace=drover", ...args);
const install = (command: "install" | "upgrade", more: object = {}): Promise<string> =>
  helm.run(
    ...[command, "drover", chart, "--namespace=drover"],
    ...(command === "install" ? ["--create-namespace"] : []),
    `--set-json=${setJson({ ...values, ...more })}`,
  );

beforeAll(async () => {
  // Its node has no tokens to mount.
  const apiServerArgs = [
    `--service-cluster-ip-range=${services}`,
    "--disable-admission-plugins=ServiceAccount",
    ownersAreChecked,
  ];
  // The node has no heartbeats either, and its Pods would be marked as not ready for that.
  const controllers = ["*", "-node-lifecycle-controller"];
  cluster = await startClusterWithFakeNodes({ nodes: 0, controllers, apiServerArgs });
  helm = await openHelm(folder, cluster.kubeconfig);
  client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test", log: silentLog });
  const { command } = await findRedis7();
  const images = await Promise.all(
    parts.map(async (part) => [`drover/${part}:0.1.0`, await imageOf(part)] as const),
  );
  const valkey =
    "valkey/valkey:9.1.0@sha256:8e8d64b405ce18f41b8e5ee20aa4687a8ed0022d1298f2ce31cdcf3a76e09411";
  node = await startNode({
    client,
    name: "local",
    images: {
      ...Object.fromEntries(images),
      // Its arguments begin with the name of the program.
      [valkey]: { command: ["sh", "-c", `shift; exec ${command} "$@"`, "sh"] },
    },
    folder: join(folder, "pods"),
    env: { ...compiled, PATH: process.env["PATH"] ?? "" },
  });
}, 600_000);
afterAll(async () => {
  await node.stop();
  await client.close();
  await cluster.stop();
});

async function imageOf(part: string) {
  const groups = ["system:serviceaccounts", "system:serviceaccounts:drover"];
  const kubeconfig = await cluster.kubeconfigFor({ user: `system:serviceaccount:drover:${part}`, groups });
  return {
    command: [process.execPath, join(root, `apps/${part}/src/main.ts`)],
    env: { DROVER_KUBECONFIG: kubeconfig },
  };
}

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
/** Asks the server over a connection of openssl, which checks its certificate. */
async function ask(user: string, password: string, ...lines: readonly string[]): Promise<string> {
  const ca = join(folder, "ca.crt");
  writeFileSync(ca, await inDrover("get", "configmap", "redis-ca", "-o", "jsonpath={.data.ca\\.crt}"));
  const child = run("openssl", [
    ...["s_client", "-connect", `${address}:6379`, "-CAfile", ca, "-x509_strict", "-verify_return_error"],
    ...["-verify_ip", address, "-ign_eof"],
  ]);
  child.child.stdin?.end(`${[`AUTH ${user} ${password}`, ...lines, "QUIT"].join("\r\n")}\r\n`);
  return (await child).stdout;
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
  const applying = run(cluster.kubectl, ["apply", "-f", "-"]);
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
