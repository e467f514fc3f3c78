import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { onFreePort, type TiedProcess, untilReady } from "@drover/local-servers";
import { answersOk } from "../answers-ok.ts";
import { fakeNodeTargets } from "../build.ts";
import { type ControlPlane, managerFlags, startClient } from "../control-plane-client.ts";
import { type RealCluster, startApiServerOnEtcd, type StartOptions } from "../start.ts";
import { stagesFile } from "./stages.ts";

export interface FakeNodeOptions extends StartOptions {
  /** How many nodes; default 1. They are called `fake-0`, `fake-1` ... With 0 nobody schedules pods, or runs them. */
  readonly nodes?: number;
  /** Which controllers of kube-controller-manager run; default all: see `runControllers`. */
  readonly controllers?: readonly string[];
  /** More flags for kube-controller-manager. */
  readonly controllerManagerArgs?: readonly string[];
}

/** A whole control plane with nodes on which nothing runs, but whose pods look as if. */
export interface FakeNodeCluster extends RealCluster {
  /**
   * Has these controllers run in place of those that do: each is a name, `*` for all that run by default, or `-name` for
   * one of them left out. The API server stays. Resolves when the manager is healthy, which is before its controllers
   * have read what there is: wait for what you expect of them.
   */
  runControllers(controllers: readonly string[]): Promise<void>;
  /** Kills kube-controller-manager, until `runControllers`. */
  stopControllers(): Promise<void>;
}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok in place of nodes: pods are scheduled and
 * become Running and Ready after a moment, unless an annotation says otherwise (`fateAnnotation`, `delayAnnotation`).
 * Resolves when the nodes are ready and pods are taken. Plain processes on 127.0.0.1: it takes neither root nor Linux.
 *
 * @throws when something does not start: the message carries the last lines of its log
 */
export async function startClusterWithFakeNodes(options: FakeNodeOptions = {}): Promise<FakeNodeCluster> {
  const { nodes = 1, controllers = ["*"], controllerManagerArgs = [], signal } = options;
  const { cluster, bin, pki } = await startApiServerOnEtcd(options, {
    targets: fakeNodeTargets,
    serviceAccounts: true,
  });
  const plane: ControlPlane = { bin, pki, dir: cluster.dir, url: cluster.url };
  const others: TiedProcess[] = [];
  let manager: TiedProcess | undefined;
  const stopControllers = async () => {
    if (manager !== undefined) await end([manager]);
    manager = undefined;
  };
  const runControllers = async (chosen: readonly string[]) => {
    await stopControllers();
    manager = await startManager(
      plane,
      [`--controllers=${chosen.join(",")}`, ...controllerManagerArgs],
      signal,
    );
  };
  const stop = async () => {
    await Promise.all([stopControllers(), end(others)]);
    await cluster.stop();
  };
  try {
    await Promise.all([
      runControllers(controllers),
      ...(nodes === 0 ? [] : [startScheduler, startKwok]).map(async (startOne) => {
        others.push(await startOne(plane, signal));
      }),
    ]);
    await addNodes(cluster.kubectl, nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  const pids = () => [
    ...cluster.pids(),
    ...(manager === undefined ? others : [manager, ...others]).map(({ pid }) => pid),
  ];
  return { ...cluster, pids, runControllers, stopControllers, stop };
}

async function end(children: readonly TiedProcess[]): Promise<void> {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map(({ exited }) => exited));
}

/** The clients' own limits, which would be what is measured. */
const unlimited = ["--kube-api-qps=10000", "--kube-api-burst=20000"] as const;

/** It may be busy with what it finds, on a machine that is busy. */
const patienceMs = 120_000;

/** Starts a program on a free port of its own, and waits until it calls itself healthy. */
function startHealthy(
  plane: ControlPlane,
  [program, user]: readonly [string, string],
  argsOn: (port: number) => readonly string[],
  signal: AbortSignal | undefined,
): Promise<TiedProcess> {
  return onFreePort(async (port) => {
    const child = await startClient(plane, program, user, argsOn(port));
    const secure = program === "kwok" ? {} : { ca: plane.pki.admin.ca };
    const isHealthy = () => answersOk({ ...secure, host: "127.0.0.1", port, path: "/healthz" });
    await untilReady(child, isHealthy, { timeoutMs: patienceMs, signal });
    return child;
  });
}

/** With a certificate that says 127.0.0.1. */
const servingOn = ({ pki }: ControlPlane, port: number): readonly string[] => [
  ...["--bind-address=127.0.0.1", `--secure-port=${port}`],
  `--tls-cert-file=${join(pki.folder, "apiserver.crt")}`,
  `--tls-private-key-file=${join(pki.folder, "apiserver.key")}`,
];

const startManager = (plane: ControlPlane, more: readonly string[], signal: AbortSignal | undefined) =>
  startHealthy(
    plane,
    ["kube-controller-manager", "controller-manager"],
    (port) => [...managerFlags(plane.pki), ...servingOn(plane, port), ...unlimited, ...more],
    signal,
  );

const startScheduler = (plane: ControlPlane, signal: AbortSignal | undefined) =>
  startHealthy(
    plane,
    ["kube-scheduler", "scheduler"],
    (port) => [...servingOn(plane, port), "--leader-elect=false", ...unlimited],
    signal,
  );

async function startKwok(plane: ControlPlane, signal: AbortSignal | undefined): Promise<TiedProcess> {
  const config = join(plane.dir, "kwok-stages.yaml");
  await writeFile(config, stagesFile());
  return startHealthy(
    plane,
    ["kwok", "admin"],
    (port) => [
      `--config=${config}`,
      "--manage-all-nodes=true",
      ...["--cidr=10.244.0.0/16", "--node-ip=127.0.0.1"],
      // So that the nodes have leases, and are taken for alive.
      "--node-lease-duration-seconds=40",
      `--server-address=127.0.0.1:${port}`,
    ],
    signal,
  );
}

const patience = "--timeout=120s";

async function addNodes(kubectl: string, count: number): Promise<void> {
  const run = promisify(execFile);
  const names = Array.from({ length: count }, (_, i) => `fake-${i}`);
  const items = names.map((name) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
  }));
  // Pods need it even when they name none.
  const forPods = run(kubectl, ["wait", patience, "--for=create", "serviceaccount/default"]);
  if (count > 0) {
    const creating = run(kubectl, ["create", "-f", "-"]);
    creating.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    await creating;
    await run(kubectl, ["wait", patience, "--for=condition=Ready", "node", "--all"]);
  }
  await forPods;
}
