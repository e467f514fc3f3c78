import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { killAll, type TiedProcess } from "@drover/local-servers";
import { controllerTargets, fakeNodeTargets } from "../build.ts";
import { type ControlPlane, servingOn, startHealthy } from "../control-plane-client.ts";
import { type ChosenControllers, controllerManager } from "../controller-manager.ts";
import { type RealCluster, startApiServerOnEtcd, type StartOptions } from "../start.ts";
import { stagesFile } from "./stages.ts";

export interface FakeNodeOptions extends StartOptions {
  /** How many nodes; default 1. They are called `fake-0`, `fake-1` ... With 0, pods are neither scheduled nor run. */
  readonly nodes?: number;
  /** Which controllers of kube-controller-manager run; default all: see `runControllers`. */
  readonly controllers?: readonly string[];
  /** True if the API server passes requests on to servers of other API groups, such as metrics: see `startKeda`. */
  readonly aggregation?: boolean;
  /** More flags for kube-controller-manager. */
  readonly controllerManagerArgs?: readonly string[];
}

/** A complete control plane with fake nodes: nothing runs, but pods have the status of running ones. */
export interface FakeNodeCluster extends RealCluster, ChosenControllers {}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok in place of nodes: pods are scheduled and
 * become Running and Ready after a moment, unless an annotation sets another state (`fateAnnotation`, `delayAnnotation`).
 * Resolves when the nodes are ready and pods are taken. Plain processes on 127.0.0.1: it takes neither root nor Linux.
 *
 * @throws when something does not start: the message carries the last lines of its log
 */
export async function startClusterWithFakeNodes(options: FakeNodeOptions = {}): Promise<FakeNodeCluster> {
  const { nodes = 1, controllers = ["*"], controllerManagerArgs = [], aggregation = false, signal } = options;
  const { cluster, bin, pki } = await startApiServerOnEtcd(options, {
    targets: nodes === 0 ? controllerTargets : fakeNodeTargets,
    serviceAccounts: true,
    aggregation,
  });
  const plane: ControlPlane = { bin, pki, dir: cluster.dir, url: cluster.url };
  const others: TiedProcess[] = [];
  const manager = controllerManager(plane, [...unlimited, ...controllerManagerArgs], signal);
  const { runControllers, stopControllers } = manager;
  await using opening = new AsyncDisposableStack();
  opening.defer(() => cluster.stop());
  opening.defer(async () => {
    await Promise.all([stopControllers(), killAll(others)]);
  });
  await Promise.all([
    runControllers(controllers),
    ...(nodes === 0 ? [] : [startScheduler, startKwok]).map(async (startOne) => {
      others.push(await startOne(plane, signal));
    }),
  ]);
  await addNodes(cluster.kubectl, nodes);
  const opened = opening.move();
  const pids = () =>
    [...cluster.pids(), manager.pid(), ...others.map(({ pid }) => pid)].filter((pid) => pid !== undefined);
  return { ...cluster, pids, runControllers, stopControllers, stop: () => opened.disposeAsync() };
}

/** The clients' own limits, which would be what is measured. */
const unlimited = ["--kube-api-qps=10000", "--kube-api-burst=20000"] as const;

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

/** Creates an object, or a list of objects. */
export async function createObjects(kubectl: string, object: object): Promise<void> {
  const creating = promisify(execFile)(kubectl, ["create", "-f", "-"]);
  creating.child.stdin?.end(JSON.stringify(object));
  await creating;
}

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
    await createObjects(kubectl, { apiVersion: "v1", kind: "List", items });
    await run(kubectl, ["wait", patience, "--for=condition=Ready", "node", "--all"]);
  }
  await forPods;
}
