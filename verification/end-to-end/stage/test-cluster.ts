import { spawnTied } from "@drover/local-servers";
import { ownersAreChecked, type RealCluster, startRealCluster } from "@drover/real-cluster";
import { startSandbox } from "@drover/sandbox";
import { execFile, type ExecFileException } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Manifest } from "../../harness/manifests.ts";

/** An object as tests look at it. */
const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string().optional(),
    generation: z.number().optional(),
    finalizers: z.array(z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
  status: z
    .looseObject({
      observedGeneration: z.number().optional(),
      conditions: z
        .array(
          z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }),
        )
        .optional(),
    })
    .optional(),
});
export type TestObject = z.output<typeof objectSchema>;

/** A cluster as its users see it: nothing of Drover's reads or writes here. */
export interface TestCluster {
  readonly kubeconfig: string;
  /** Create, or change what is there; a kind is there when it can be asked for. Rejects with the server's words. */
  apply(manifest: Manifest): Promise<void>;
  get(manifest: Manifest): Promise<TestObject | undefined>;
  /** What the API server answers to a GET of a path. */
  read(path: string): Promise<unknown>;
  /** The same, as the text that it is. */
  readText(path: string): Promise<string>;
  /** A token of a ServiceAccount, as KEDA and kubelets have them made; undefined of the sandbox, which has none. */
  tokenOf(namespace: string, account: string): Promise<string | undefined>;
  /** The path of a kubeconfig of a ServiceAccount; of the administrator in the sandbox. */
  kubeconfigOfAccount(namespace: string, account: string): Promise<string>;
  /** Ask for deletion, and do not wait for it. */
  remove(manifest: Manifest): Promise<void>;
  stop(): Promise<void>;
}

/** The sandbox, or a real etcd and kube-apiserver when `DROVER_TEST_CLUSTER=real`. */
export const startTestCluster = (folder: string): Promise<TestCluster> =>
  process.env["DROVER_TEST_CLUSTER"] === "real"
    ? startRealCluster({ apiServerArgs: realClusterArgs }).then((cluster) => realCluster(folder, cluster))
    : sandboxCluster(folder);

/** Flags of the API server of a real cluster: Services have addresses that a node of processes can serve. */
export const realClusterArgs = ["--service-cluster-ip-range=127.1.0.0/16", ownersAreChecked];

async function sandboxCluster(folder: string): Promise<TestCluster> {
  const sandbox = await startSandbox({});
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  const request = requestTo(sandbox.url, sandbox.token);
  return {
    kubeconfig,
    async apply(manifest) {
      const there = await request("PATCH", pathOf(manifest), manifest);
      if (there === undefined) await request("POST", collectionOf(manifest), manifest);
    },
    read: (path) => parsedJson(request("GET", path)),
    readText: async (path) => (await request("GET", path)) ?? "",
    get: async (manifest) => parsed(await parsedJson(request("GET", pathOf(manifest)))),
    async remove(manifest) {
      await request("DELETE", pathOf(manifest));
    },
    tokenOf: () => Promise.resolve(undefined),
    kubeconfigOfAccount: () => Promise.resolve(kubeconfig),
    stop: () => sandbox.close(),
  };
}

/** Written through kubectl, as people do; read through `kubectl proxy`, since a process for each look costs too much. */
export async function realCluster(folder: string, cluster: RealCluster): Promise<TestCluster> {
  const kubectl = (args: readonly string[], input = ""): Promise<string> =>
    new Promise((resolve, reject) => {
      const done = (error: ExecFileException | null, stdout: string, stderr: string): void =>
        error === null ? resolve(stdout) : reject(new Error(stderr));
      execFile(cluster.kubectl, args, { maxBuffer: 2 ** 26 }, done).stdin?.end(input);
    });
  const listening = Promise.withResolvers<string>();
  const proxy = await spawnTied({
    command: cluster.kubectl,
    args: ["proxy", "--port=0"],
    name: "kubectl proxy",
    logFile: join(folder, "kubectl-proxy.log"),
    onLine(line) {
      const [address] = /127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (address !== undefined) listening.resolve(`http://${address}`);
    },
  });
  const request = requestTo(await listening.promise);
  return {
    kubeconfig: cluster.kubeconfig,
    async apply(manifest) {
      await kubectl(["apply", "-f", "-"], JSON.stringify(manifest));
      // kubectl looks a kind up before it requests it, and discovers a kind later than the API server serves it.
      const isServed = () =>
        kubectl(["get", manifest.metadata.name]).then(
          () => true,
          () => false,
        );
      while (manifest.kind === "CustomResourceDefinition" && !(await isServed()));
    },
    read: (path) => parsedJson(request("GET", path)),
    readText: async (path) => (await request("GET", path)) ?? "",
    get: async (manifest) => parsed(await parsedJson(request("GET", pathOf(manifest)))),
    async remove({ apiVersion, kind, metadata: { name, namespace } }) {
      const [version = "", group = ""] = apiVersion.split("/").reverse();
      const type = group === "" ? kind : `${kind}.${version}.${group}`;
      const where = namespace === undefined ? [] : ["-n", namespace];
      await kubectl(["delete", type, name, ...where, "--wait=false", "--ignore-not-found"]);
    },
    tokenOf: (namespace, account) => cluster.tokenOf(namespace, account),
    kubeconfigOfAccount: (namespace, account) => cluster.kubeconfigOfAccount(namespace, account),
    async stop() {
      await proxy.stop();
      await cluster.stop();
    },
  };
}

const parsedJson = async (answer: Promise<string | undefined>): Promise<unknown> => {
  const text = await answer;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
};

/** Plain HTTP: the text that is answered; undefined is 404. */
const requestTo = (url: string, token?: string) => async (method: string, path: string, body?: unknown) => {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(url + path, {
    method,
    headers: { "content-type": type, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(text);
  return text;
};

const parsed = (object: unknown): TestObject | undefined =>
  object === undefined ? undefined : objectSchema.parse(object);

function collectionOf({ apiVersion, kind, metadata: { namespace } }: Manifest): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${kind.toLowerCase()}s`;
}
const pathOf = (manifest: Manifest): string => `${collectionOf(manifest)}/${manifest.metadata.name}`;
