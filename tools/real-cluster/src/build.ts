// Builds the programs of the cluster from the Go module in ../go, once: the folder they go to is named after all that
// went into them.
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { goEnvironment, runGo, runTied } from "@drover/local-servers";
import { withLock } from "../../bootstrap/lock.mjs";

const moduleFolder = fileURLToPath(new URL("../go", import.meta.url));
const cacheFolder = fileURLToPath(new URL("../../../.cache/real-cluster", import.meta.url));

/** The programs, each with the package that it is built from. */
export const packages = {
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
  kubelet: "k8s.io/kubernetes/cmd/kubelet",
  "kube-proxy": "k8s.io/kubernetes/cmd/kube-proxy",
  etcd: "go.etcd.io/etcd/server/v3",
  pki: "./pki",
  rbac: "./rbac",
  pause: "./pause",
  registry: ".",
  dns: ".",
  kwok: "sigs.k8s.io/kwok/cmd/kwok",
  helm: "helm.sh/helm/v4/cmd/helm",
  "keda-operator": "github.com/kedacore/keda/v2/cmd/operator",
  "keda-adapter": "github.com/kedacore/keda/v2/cmd/adapter",
};

/**
 * A program of the cluster. Our own are `pki`, which writes keys and certificates, `pause`, the first in every pod, and `rbac`,
 * which asks Kubernetes' RBAC evaluation.
 */
export type Target = keyof typeof packages;

const apiServerTargets: readonly Target[] = ["pki", "etcd", "kubectl", "kube-apiserver"];
/** The programs of a cluster with a node. */
export const nodeTargets: readonly Target[] = [
  ...apiServerTargets,
  ...(["pause", "registry", "dns", "kube-scheduler"] as const),
  ...(["kube-controller-manager", "kubelet", "kube-proxy"] as const),
];
/** The programs of a cluster with controllers and no node. */
export const controllerTargets: readonly Target[] = [...apiServerTargets, "kube-controller-manager"];
/** The programs of a cluster with fake nodes. */
export const fakeNodeTargets: readonly Target[] = [...controllerTargets, "kube-scheduler", "kwok"];
/** Programs of other Go modules than the cluster's, with the folder of the module. */
export const ownModules: { readonly [target in Target]?: string } = {
  registry: "registry",
  dns: "dns",
  kwok: "kwok",
  helm: "helm",
  "keda-operator": "keda",
  "keda-adapter": "keda",
};

export interface BuildOptions {
  /** Default: the programs that `startRealCluster` needs. */
  readonly targets?: readonly Target[];
  /** Called with lines that report the progress. */
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Builds the targets that are not built yet, and returns the folder with all of them.
 *
 * The first build takes minutes and downloads about 0.6 GB of sources; if everything is built, only Go's version is read.
 * Concurrent calls, also of two processes, share one build.
 *
 * @throws if Go is missing, or a build fails; the message ends with the compiler's last lines
 */
export async function buildRealCluster(options: BuildOptions = {}): Promise<{ bin: string }> {
  const { targets = apiServerTargets, ...others } = options;
  return { bin: await buildMissing(await fingerprint(sourceFiles), targets, others) };
}

/**
 * Builds Helm if it is not built yet, and returns its path. It has a folder of its own, so that another version of it
 * leaves the programs of the cluster as they are.
 */
export async function buildHelm(options: Omit<BuildOptions, "targets"> = {}): Promise<string> {
  const bin = await buildMissing(await fingerprint(["helm/go.mod", "helm/go.sum"]), ["helm"], options);
  return join(bin, "helm");
}

/** Builds KEDA's operator and metrics adapter if they are not built yet. Returns their folder, and that of KEDA's sources. */
export async function buildKeda(
  options: Omit<BuildOptions, "targets"> = {},
): Promise<{ bin: string; sources: string }> {
  const folder = await fingerprint(["keda/go.mod", "keda/go.sum"]);
  const bin = await buildMissing(folder, ["keda-operator", "keda-adapter"], options);
  return { bin, sources: await moduleSources("keda", "github.com/kedacore/keda/v2") };
}

/** @returns the folder. */
async function buildMissing(
  folder: string,
  targets: readonly Target[],
  { log = () => undefined, signal }: BuildOptions,
): Promise<string> {
  signal?.throwIfAborted();
  const bin = join(cacheFolder, "bin", folder);
  const missing = () => targets.filter((target) => !existsSync(join(bin, target)));
  if (missing().length === 0) return bin;

  const lock = join(tmpdir(), `drover-build-${hash([cacheFolder])}.sock`);
  const onWait = () => log("another process is building the programs: waiting for it");
  await withLock(lock, { onWait, signal }, async () => {
    await mkdir(bin, { recursive: true });
    const version = await kubernetesVersion();
    for (const target of missing()) await buildTarget(target, { bin, version, log, signal });
  });
  return bin;
}

interface Build {
  readonly bin: string;
  readonly version: string;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** Builds under another name and renames at the end, so that a program that exists is complete. */
async function buildTarget(target: Target, build: Build): Promise<void> {
  const unfinished = join(build.bin, `.${target}-${randomUUID()}`);
  const begun = performance.now();
  build.log(`building ${target}`);
  try {
    await compile(target, unfinished, build);
    await rename(unfinished, join(build.bin, target));
  } finally {
    await rm(unfinished, { force: true });
  }
  build.log(`built ${target} in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}

async function compile(target: Target, file: string, { version, log, signal }: Build): Promise<void> {
  let compiled = 0;
  const build = {
    name: "go build",
    // It takes every core for minutes, so it gives way to other processes.
    command: "nice",
    args: [
      ...["-n", "10", "go", "build", "-mod=readonly", "-v", "-trimpath", "-buildvcs=false"],
      ...["-ldflags", stamp(version), "-o", file, packages[target]],
    ],
    cwd: join(moduleFolder, ownModules[target] ?? ""),
    env: goEnvironment,
    logFile: join(cacheFolder, `${target}.log`),
    onLine() {
      // With -v Go names every package that it compiles.
      if (++compiled % 200 === 0) log(`${target}: ${compiled} packages compiled`);
    },
  };
  await runTied(build, signal).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new Error(
      `Building ${target} failed. Go needs its module proxy (or GOPROXY to name another) and about 4 GB of free disk. ` +
        `The log is ${build.logFile}. ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  });
}

/** Linker flags that set the version: without it, kubectl cannot parse the API server's version, and prints none. */
function stamp(version: string): string {
  const [major = "", minor = ""] = version.replace("v", "").split(".");
  const values = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: "drover",
    gitTreeState: "clean",
  };
  const places = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
  const stamps = places.flatMap((place) =>
    Object.entries(values).map(([name, value]) => `-X ${place}.${name}=${value}`),
  );
  return ["-s", "-w", ...stamps].join(" ");
}

/** Runs a short go command in the module's folder. */
const go = (...args: string[]): Promise<string> => goIn("", ...args);

const goIn = async (folder: string, ...args: string[]): Promise<string> => {
  const cwd = join(moduleFolder, folder);
  return (await runGo(args, { cwd, purpose: "the real cluster is built from source" })).trim();
};

/** The folder with the files of a module that the one in `folder` requires. They are downloaded if they are absent. */
async function moduleSources(folder: string, name: string): Promise<string> {
  const downloaded: unknown = JSON.parse(await goIn(folder, "mod", "download", "-json", name));
  return z.object({ Dir: z.string() }).parse(downloaded).Dir;
}

async function kubernetesVersion(): Promise<string> {
  return go("list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes");
}

const sourceFiles = [
  ...["go.mod", "go.sum", "pki/main.go", "rbac/main.go", "pause/main.go"],
  ...["registry", "dns"].flatMap((name) => ["go.mod", "go.sum", "main.go"].map((file) => `${name}/${file}`)),
  ...["kwok/go.mod", "kwok/go.sum"],
];

/** A hash of everything that goes into programs: sources and flags, the sums of all modules, and the compiler. */
async function fingerprint(files: readonly string[]): Promise<string> {
  const [compiler, ...sources] = await Promise.all([
    go("env", "GOVERSION", "GOOS", "GOARCH"),
    ...files.map((file) => readFile(join(moduleFolder, file), "utf8")),
  ]);
  return hash([compiler, stamp("v0.0"), ...sources]);
}

const hash = (parts: readonly string[]) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
