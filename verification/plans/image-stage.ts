// A real API server, with a node that runs Pods as processes, for `drover plan --image`.
import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { connect, installCrd } from "@drover/kube";
import { type Images, startNode } from "@drover/process-kubelet";
import { startEgressProxy, startRealCluster } from "@drover/real-cluster";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { configMaps, Cup, cups } from "../../apps/cli/src/testing/cups.fixture.ts";
import { type CommandResult, spawnDrover } from "../../apps/cli/src/testing/run-command.ts";
import { root } from "../harness/repository-files.ts";

/** The address in a pod's status, which a kube-apiserver connects to by the proxy, and the one of loopback that it has. */
const published = (address: string): string => address.replace(/^127\./, "10.");
const actual = (address: string): string => address.replace(/^10\./, "127.");

/** Where plans of images are made. */
export type ImageStage = Awaited<ReturnType<typeof startImageStage>>;
export type World = Awaited<ReturnType<ImageStage["openWorld"]>>;

/** @param folder for the files of the cluster and the worlds. */
export async function startImageStage({
  images,
  folder,
}: {
  readonly images: Images;
  readonly folder: string;
}) {
  const egress = await startEgressProxy(folder, actual);
  const cluster = await startRealCluster({ apiServerArgs: egress.apiServerArgs });
  const { kubeconfig } = cluster;
  const admin = await connect({ kubeconfig });
  await installCrd(admin, { ...customResourceDefinition(Cup) });
  await installCrd(admin, { ...customResourceDefinition(ReconcileFunction) });
  const planner = await cluster.kubeconfigFor({ user: "planner" });
  const node = await startNode({
    kubeconfig,
    name: "node",
    images,
    folder,
    probePeriod: 200,
    publishedAddress: published,
  });
  const kubectl = (...args: readonly string[]): string => execFileSync(cluster.kubectl, args).toString();
  const apply = (...items: readonly object[]): string =>
    execFileSync(cluster.kubectl, ["apply", "-f", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    }).toString();
  const parts = { folder, planner, kubectl, apply };
  return {
    cluster,
    admin,
    kubectl,
    apply,
    openWorld: (options: WorldOptions = {}) => openWorld(parts, options),
    async stop(): Promise<void> {
      await node.stop();
      await admin.close();
      await cluster.stop();
      egress.close();
    },
  };
}

interface StageParts {
  readonly folder: string;
  /** The kubeconfig of a user without permissions, with a client certificate. */
  readonly planner: string;
  readonly kubectl: (...args: readonly string[]) => string;
  readonly apply: (...items: readonly object[]) => string;
}

export const podRules = { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "delete"] };
export const proxyRules = { apiGroups: [""], resources: ["pods/proxy"], verbs: ["create"] };
export const policyRules = {
  apiGroups: ["networking.k8s.io"],
  resources: ["networkpolicies"],
  verbs: ["create", "patch", "delete"],
};
/** The permissions that every plan needs, wherever its code runs. */
export const cupRules = {
  apiGroups: ["example.com", "", "drover.dev"],
  resources: ["cups", "cups/status", "cups/finalizers", "configmaps", "events", "reconcilefunctions"],
  verbs: ["get", "list", "create", "patch", "update", "delete"],
};

export interface WorldOptions {
  readonly tea?: string;
  readonly rules?: readonly object[];
  readonly labels?: object;
  readonly env?: readonly object[];
  readonly watches?: readonly object[];
  readonly webhook?: object;
  /** Other fields of the ReconcileFunction's spec. */
  readonly spec?: object;
}

const objectSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), uid: z.string(), resourceVersion: z.string() }),
  spec: z.looseObject({}).optional(),
});
const listSchema = z.object({ items: z.array(objectSchema) });
export const selectorSchema = z.looseObject({ matchLabels: z.record(z.string(), z.string()) });
const seenSchema = z.object({
  env: z.record(z.string(), z.string()),
  headers: z.record(z.string(), z.unknown()),
  files: z.array(z.string()),
  secret: z.string(),
  method: z.string(),
  url: z.string(),
});

let namespaces = 0;

/** A namespace with a cup and a user, and a folder with the ReconcileFunction. */
async function openWorld(
  { folder, planner, kubectl, apply }: StageParts,
  {
    tea = "green",
    rules = [cupRules, podRules, proxyRules, policyRules],
    labels = {},
    env = [],
    watches = [],
    webhook = { composes: true },
    spec: others = {},
  }: WorldOptions,
) {
  const namespace = `plan-${++namespaces}`;
  const cwd = join(folder, namespace);
  const seen = join(cwd, "seen.json");
  const port = await freePort();
  const write = (spec: object, name = "a"): void => {
    apply({ apiVersion: Cup.apiVersion, kind: "Cup", metadata: { name, namespace }, spec });
  };
  const container = {
    image: "cups:0",
    port,
    env: [{ name: "SEEN", value: seen }, ...env],
    // By which others add credentials.
    labels: { "azure.workload.identity/use": "true" },
    annotations: { "vault.hashicorp.com/agent-inject": "true" },
  };
  const manifest = {
    apiVersion: ReconcileFunction.apiVersion,
    kind: ReconcileFunction.kind,
    metadata: { name: "cups" },
    spec: { for: cups, owns: [configMaps], watches, delivery: "webhook", webhook, container, ...others },
  };
  mkdirSync(join(cwd, "deploy"), { recursive: true });
  writeFileSync(join(cwd, "deploy/function.yaml"), stringify(manifest));
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: "plans", namespace };
  apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } },
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name: "plans" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "planner" }],
    },
  );
  write({ tea });
  const list = (kind: string, selector: Readonly<Record<string, string>> = {}) => {
    const labelled = Object.entries(selector).map(([label, value]) => `${label}=${value}`);
    return listSchema.parse(
      JSON.parse(kubectl("get", kind, "-n", namespace, "-o", "json", "-l", labelled.join(","))),
    ).items;
  };
  // RBAC is followed by a watch of the API server's.
  const mayRead = () => kubectl("auth", "can-i", "get", "cups", "-n", namespace, "--as", "planner").trim();
  await expect.poll(mayRead).toBe("yes");
  const words = ["plan", "-n", namespace, "--kubeconfig", planner];
  const ofImage = (name: string) => [...words, "cup/a", "--image", name];
  return {
    namespace,
    cwd,
    seenFile: seen,
    port,
    write,
    list,
    pods: (selector?: Readonly<Record<string, string>>) => list("pods", selector),
    /** The names and versions of all objects that a plan could leave behind or change. */
    objects: () =>
      ["pods", "networkpolicies", "secrets", "configmaps", "services", "serviceaccounts", "cups"].flatMap(
        (kind) => list(kind).map(({ metadata: { name, resourceVersion } }) => [kind, name, resourceVersion]),
      ),
    seen: () => seenSchema.parse(JSON.parse(readFileSync(seen, "utf8"))),
    /** Resolves when the function has got a call. */
    called: () => expect.poll(() => existsSync(seen)).toBe(true),
    /** Stores the ReconcileFunction, and returns its uid. */
    register(): string {
      apply({ ...manifest, metadata: { name: "cups", namespace } });
      return kubectl("get", "reconcilefunction", "cups", "-n", namespace, "-o", "jsonpath={.metadata.uid}");
    },
    plan: (name: string, ...more: readonly string[]): Promise<CommandResult> =>
      spawnDrover([...ofImage(name), ...more], { cwd }),
    planWith: (more: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult> =>
      spawnDrover([...words, ...more], { cwd, ...(env && { env }) }),
    start: (name: string): ChildProcess =>
      spawn(process.execPath, [join(root, "apps/cli/src/main.ts"), ...ofImage(name)], { cwd }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
