import { customResourceDefinition, objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AuthorEpoch } from "@drover/runtime";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { folderOfFile } from "../../../../packages/testing/src/folder.fixture.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { linkModules } from "../testing/link-modules.ts";
import { spawnDrover } from "../testing/run-command.ts";

let cluster: RealCluster;
let admin: KubeClient;
const cwd = folderOfFile();
const folder = join(cwd, "greetings");
let kubeconfig: string;
const author = "system:serviceaccount:default:author";

beforeAll(async () => {
  cluster = await startRealCluster();
  admin = await connect({ kubeconfig: cluster.kubeconfig });
  await installCrd(admin, { ...customResourceDefinition(ReconcileFunction) });
  kubectl("create", "namespace", "drover");
  // The kind of the epoch is served a moment after it is there, and what follows it in the file is applied again.
  await vi.waitFor(() => kubectl("apply", "-f", repositoryPath("apps/deployer/deploy/authors.yaml")), 30_000);
  // As a deployer makes it when it starts.
  const epoch = { metadata: { name: "authors" }, spec: { epoch: "one", policies: "" } };
  await vi.waitFor(() => admin.create(refOf(AuthorEpoch), epoch), 30_000);
  // As before Kubernetes 1.36: a user can name only themselves as the author.
  kubectl("delete", "mutatingadmissionpolicybinding", "drover-authors");
  await admin.create(builtin.serviceAccount, { metadata: { name: "author", namespace: "default" } });
  bind("deploys", [
    rule("drover.dev", "reconcilefunctions", "get", "create", "patch"),
    rule("apiextensions.k8s.io", "customresourcedefinitions", "get", "create", "patch"),
  ]);
  kubeconfig = await cluster.kubeconfigOfAccount("default", "author");
  await spawnDrover(["init", "greetings"], { cwd });
  await linkModules(folder);
}, 900_000);
afterAll(async () => {
  await admin.close();
  await cluster.stop();
});

const kubectl = (...args: string[]): string => execFileSync(cluster.kubectl, args).toString();
const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

function bind(name: string, rules: readonly object[]): void {
  const metadata = { name };
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ kind: "ServiceAccount", name: "author", namespace: "default" }];
  for (const object of [
    { apiVersion, kind: "ClusterRole", metadata, rules },
    { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects },
  ]) {
    execFileSync(cluster.kubectl, ["apply", "-f", "-"], { input: JSON.stringify(object) });
  }
}

const deploy = (...more: string[]) =>
  spawnDrover(["deploy", "--kubeconfig", kubeconfig, "--wait", "0s", ...more], { cwd: folder });
const deployed = () =>
  admin.get(refOf(ReconcileFunction), objectKey({ namespace: "default", name: "greetings.example.com" }));
const change = async (from: string, to: string): Promise<void> => {
  const file = join(folder, "src/function.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  await spawnDrover(["generate"], { cwd: folder });
};

it("a user who lacks permissions gets all of them listed at once, and nothing is written", async () => {
  const { code, stderr } = await deploy();
  expect(stderr).toBe(`error: greetings.example.com asks for permissions that you, ${author}, do not have:
  - list greetings of example.com in all namespaces
  - watch greetings of example.com in all namespaces
  - get greetings of example.com in all namespaces
  - update greetings/status of example.com in all namespaces
  - create events of events.k8s.io in all namespaces
  - patch events of events.k8s.io in all namespaces
  - create pods in namespace default
Get these permissions, let a user with them deploy it, or let the function ask for less.
`);
  expect(code).toBe(1);
  expect(await admin.get(builtin.crd, objectKey({ name: "greetings.example.com" }))).toBeUndefined();
});

it("a right to what has no name is none to objects of every name", async () => {
  const greetings = rule("example.com", "greetings", "get", "list", "watch");
  bind("nameless", [{ ...greetings, resourceNames: [""] }, rule("", "pods", "create")]);
  await expect
    .poll(async () => (await deploy()).stderr, { timeout: 60_000, interval: 500 })
    .not.toMatch(/create pods/);
  const { stderr } = await deploy();
  for (const verb of ["list", "watch", "get"]) expect(stderr).toContain(`- ${verb} greetings of example.com`);
});

it("a user with all permissions deploys it as its author; a second deploy changes nothing; a change is applied", async () => {
  bind("holds", [
    rule("example.com", "greetings", "get", "list", "watch"),
    rule("example.com", "greetings/status", "update"),
    rule("events.k8s.io", "events", "create", "patch"),
    rule("", "pods", "create"),
  ]);
  // RBAC is followed by a watch of the API server's.
  await expect
    .poll(async () => (await deploy()).stdout, { timeout: 60_000, interval: 500 })
    .toMatch(
      /^CRD greetings\.example\.com: created, and served\nReconcileFunction default\/greetings\.example\.com: created\n$/,
    );
  const first = await deployed();
  expect(first?.metadata.annotations).toMatchObject({
    "drover.dev/author": author,
    "drover.dev/author-groups": expect.stringContaining("system:serviceaccounts:default\n") as string,
  });
  expect((await deploy()).stdout).toMatch(/: unchanged, and served\n.*: unchanged\n$/);
  expect((await deployed())?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);

  // An operator pauses it; the author takes the scaling away and changes the image.
  kubectl(
    "patch",
    "rf",
    "greetings.example.com",
    "--type=merge",
    "--as=system:admin",
    "--as-group=system:masters",
    "-p",
    JSON.stringify({
      metadata: {
        annotations: {
          "drover.dev/author": "system:admin",
          "drover.dev/author-groups": "system:masters\nsystem:authenticated",
        },
      },
      spec: { paused: true },
    }),
  );
  await change("scaling: { max: 3 },", "");
  await change("greetings:0.1.0", "greetings:0.2.0");
  expect((await deploy()).stdout).toMatch(/CRD .*: unchanged, and served\nReconcileFunction .*: changed\n$/);
  const changed = await deployed();
  expect(changed?.["spec"]).toMatchObject({ paused: true, container: { image: "greetings:0.2.0" } });
  expect(changed?.["spec"]).not.toHaveProperty("scaling");
  expect(changed?.metadata.annotations?.["drover.dev/author"]).toBe(author);
}, 120_000);

it("a function without a deployer is not Ready, and the message names what may be missing", async () => {
  const { code, stderr } = await deploy("--wait", "1s");
  expect(stderr).toBe(
    "error: default/greetings.example.com is not Ready: the deployer has not processed it since it was written. " +
      "Does Drover's deployer run in this cluster?\n",
  );
  expect(code).toBe(1);
});

it("what is no manifest of a function, and another namespace than its own, are refused", async () => {
  await change("controller,", 'controller,\n  namespace: "tea",');
  expect((await deploy("-n", "coffee")).stderr).toContain("is for the namespace tea, as its manifest states");
  expect((await deploy("--dir", "src")).stderr).toContain("There is no ReconcileFunction in");
  expect((await deploy("--dir", "nowhere")).stderr).toContain("Run `npx drover generate` first");
  expect((await deploy("--wait", "5")).stderr).toContain('Write "5s" if seconds are meant');
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  writeFileSync(join(folder, "deploy/map.yaml"), JSON.stringify(map));
  expect((await deploy()).stderr).toMatch(/map\.yaml has a ConfigMap: .* apply it with kubectl/);
});
