/**
 * # Two versions beside each other
 *
 * Bridge, deployer, gateway, a function that pulls and one that is called, each of the previous version or of the present one:
 * `npm run versions -- --orders 20 --seed 1`. First `helm upgrade` and `helm rollback` of all three parts. Then, in each order, a
 * random one, all five go over to the other version, one after the
 * other, while objects change, and while Redis is killed or loses its scripts. The chart installs them; the processes are real ones, on a node that runs containers as
 * processes, with a real API server and a Redis 7.
 *
 * Which version is the previous one is in tools/previous-version/previous.json; `--previous COMMIT` takes another one. Load, watch and judgement are those of
 * `verification/cluster/upgrade.pods.test.ts`: recorder.ts.
 */
import { ReconcileFunction } from "@drover/controller";
import { dataVersions } from "@drover/queue";
import { contractVersion } from "@drover/webhook";
import { pseudoRandom } from "@drover/random";
import { freePort } from "@drover/local-servers";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { bundle } from "../../infra/bundle.ts";
import { buildPrevious, commitOf, previous, sources } from "../../tools/previous-version/build-previous.ts";
import { layoutOf, previousLayout } from "../../tools/previous-version/layout.ts";
import { chart, setJson } from "../chart/helm.ts";
import { type ProcessCluster, processValues, startProcessCluster } from "../chart/process-cluster.ts";
import { type Violation, violationLines } from "../harness/report-violations.ts";
import { startProcess } from "../harness/start-process.ts";
import { wholeNumber } from "../harness/whole-number.ts";
import { openRedisDisturber } from "./disturb-redis.ts";
import { deliveries, type Delivery, functionName, notesFunction } from "./notes.ts";
import type { Report } from "./report.ts";
import { crds, objects, recordingAt, unseenIn, violationsIn } from "./recording.ts";

const { values } = parseArgs({
  options: {
    orders: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    "per-second": { type: "string", default: "210" },
    previous: { type: "string", default: previous.commit },
  },
});
const parts = ["bridge", "deployer", "gateway"] as const;
const all = [...parts, ...deliveries];
type Name = (typeof all)[number];
type Version = "previous" | "present";
/** How long what is left may take to be looked at when nothing changes any more. */
const patience = 60_000;

async function main(): Promise<number> {
  const { data, contract, kinds } = previous;
  const declared = { data: dataVersions, contract: contractVersion, kinds: ReconcileFunction.version };
  if (!isDeepStrictEqual({ data, contract, kinds }, declared)) {
    console.log(
      "The previous version cannot run beside this one: its data, contract or kinds have another version.",
    );
    return 1;
  }
  const commit = await commitOf(values.previous);
  if (commit === previous.commit && !isDeepStrictEqual(layoutOf(await sources(commit)), previousLayout())) {
    console.log("layout.list is not that of the previous version: node tools/previous-version/layout.ts");
    return 1;
  }
  const seed = wholeNumber("seed", values.seed);
  const orders = wholeNumber("orders", values.orders, 1);
  const dice = pseudoRandom(seed);
  const folder = await mkdtemp(join(tmpdir(), "drover-versions-"));
  const files = { previous: await previousFiles(commit), present: await presentFiles() };
  const processes = await startProcessCluster(folder, async (kubeconfigOf) => {
    const images: [string, { command: string[]; env: Record<string, string> }][] = [];
    for (const name of all) {
      const isPart = parts.some((part) => part === name);
      const account = isPart ? name : functionName(name as Delivery);
      const kubeconfig = await kubeconfigOf(isPart ? "drover" : "default", account);
      for (const version of ["previous", "present"] as const) {
        const command = [process.execPath, files[version].get(name) ?? ""];
        const env = name === "called" ? {} : { DROVER_KUBECONFIG: kubeconfig };
        images.push([imageOf(name, version), { command, env }]);
      }
    }
    return Object.fromEntries(images);
  });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const cluster: World = { ...processes, url };
  const recording = recordingAt(url);
  const running = new Map<Name, Version>(all.map((name) => [name, "previous"]));
  await install(cluster);
  await apply(cluster, [...crds]);
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  await apply(cluster, objects);
  const { kubeconfig } = cluster.cluster;
  const perSecond = wholeNumber("per-second", values["per-second"], 1);
  const recorder = await startProcess({
    name: "recorder",
    main: "verification/upgrades/recorder.ts",
    args: [JSON.stringify({ kubeconfig, host: "127.0.0.1", port, perSecond })],
    logFile: join(folder, "recorder.log"),
    awaited: "recording",
  });
  for (const delivery of deliveries) await deploy(cluster, delivery, "previous");
  await atRest(recording);
  const lost: Violation[] = [];
  // Before any function is updated: a bridge or deployer loads the scripts of its version, and Redis keeps them as long as it runs.
  for (const [command, ...args] of [
    ["upgrade", chart, valuesOf("present")],
    ["rollback", "1"],
  ] as const) {
    await recording.startLoad();
    await helmGoesTo(cluster, command, ...args);
    await recording.stopLoad();
    lost.push(...unseenIn(await atRest(recording)));
  }
  const helmed = await recording.report();
  console.log(
    `helm upgrade and rollback: ${helmed.changes} changes at ${helmed.perSecond}/s, ${lost.length} lost`,
  );
  const disturber = await openRedisDisturber(processes.client);
  const disturbed = { kill: 0, flush: 0 };
  for (let order = 0; order < orders; order++) {
    for (const name of dice.some(all, all.length)) {
      const version = running.get(name) === "previous" ? "present" : "previous";
      await recording.startLoad();
      await delay(dice.between(500, 1_500));
      const switched = switchTo(cluster, name, version);
      const how = dice.chance(0.3) ? "kill" : dice.chance(0.4) ? "flush" : undefined;
      await Promise.race([switched, delay(dice.between(0, 3_000))]);
      if (how !== undefined) {
        await disturber.disturb(how);
        disturbed[how]++;
      }
      // The last change of some object falls into every moment of it, and is masked by no later one.
      await Promise.race([switched, delay(dice.between(0, 3_000))]);
      await recording.stopLoad();
      await switched;
      lost.push(...unseenIn(await atRest(recording)));
      running.set(name, version);
    }
    const { runs, changes } = await recording.report();
    console.log(`order ${order + 1}: ${changes} changes, ${JSON.stringify(runs)} runs, ${lost.length} lost`);
  }
  const report = await recording.report();
  const violations = [...lost, ...violationsIn({ ...report, unseen: [] })];
  for (const line of violationLines(violations)) console.log(line);
  await disturber.close();
  await recorder.stop();
  await processes.stop();
  console.log(`logs: ${folder}`);
  console.log(
    `${orders} orders of ${all.length} parts, seed ${seed}, ${commit.slice(0, 8)} beside the present tree: ` +
      `${violations.length} violations; ${report.changes} changes at ${report.perSecond}/s, ` +
      `Redis killed ${disturbed.kill} times and flushed ${disturbed.flush} times, ` +
      `runs ${report.runs.pulled} pulled and ${report.runs.called} called, ` +
      `longest time without a run ${report.longestGap.pulled} and ${report.longestGap.called} ms`,
  );
  return violations.length === 0 ? 0 : 1;
}

/** The report once all changes have been read, or when that takes too long. */
async function atRest(recording: ReturnType<typeof recordingAt>): Promise<Report> {
  const until = Date.now() + patience;
  for (;;) {
    const report = await recording.report();
    if (report.unseen.length === 0 || Date.now() > until) return report;
    await delay(200);
  }
}

const imageOf = (name: Name, version: Version): string =>
  `upgrades/${name}:${version === "previous" ? previous.version : "next"}`;

const entryOf = (delivery: Delivery): string => `verification/upgrades/${delivery}.ts`;

const previousFiles = (commit: string): Promise<ReadonlyMap<string, string>> =>
  buildPrevious(
    [
      ...parts.map((name) => ({ name })),
      ...deliveries.map((name) => ({ name, files: [entryOf(name), "verification/upgrades/notes.ts"] })),
    ],
    commit,
  );

async function presentFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const part of parts) files.set(part, (await bundle(part)).file);
  for (const one of deliveries) files.set(one, (await bundle(one, entryOf(one))).file);
  return files;
}

type World = ProcessCluster & { readonly url: string };

async function apply(world: World, items: readonly object[]): Promise<void> {
  const file = join(await mkdtemp(join(tmpdir(), "drover-apply-")), "list.json");
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  await world.kubectl("apply", "--filename", file);
}

const rolledOut = async (world: World, ...names: readonly string[]): Promise<void> => {
  const wait = [inDrover, "rollout", "status", "--timeout=300s"];
  for (const name of names) await world.kubectl(...wait, name);
};

const everyPart = parts.map((part) => `deployment/${part}`);
const inDrover = "--namespace=drover";

function valuesOf(version: Version): string {
  const images = Object.fromEntries(parts.map((part) => [part, imageOf(part, version)]));
  // Services of this node are on loopback.
  const gateway = { settings: { webhookNetworks: "127.0.0.0/8" } };
  return `--set-json=${setJson({ ...processValues, images, gateway })}`;
}

async function install(world: World): Promise<void> {
  await world.helm.run(...["install", "drover", chart, inDrover, "--create-namespace"], valuesOf("previous"));
  await rolledOut(world, ...everyPart, "statefulset/valkey");
}

/** Resolves when all parts run in the version that helm was asked for. */
async function helmGoesTo(world: World, command: string, ...args: readonly string[]): Promise<void> {
  await world.helm.run(command, "drover", ...args, inDrover);
  await rolledOut(world, ...everyPart);
}

const isDelivery = (name: Name): name is Delivery => deliveries.some((one) => one === name);

async function switchTo(world: World, name: Name, version: Version): Promise<void> {
  if (isDelivery(name)) return deploy(world, name, version);
  const [where, image] = [inDrover, `${name}=${imageOf(name, version)}`];
  await world.kubectl(where, "set", "image", `deployment/${name}`, image);
  await rolledOut(world, `deployment/${name}`);
}

/** Resolves when all Pods of the function are Ready ones of this version. */
async function deploy(world: World, delivery: Delivery, version: Version): Promise<void> {
  const image = imageOf(delivery, version);
  const manifest = notesFunction(delivery, image, world.url);
  await apply(world, [{ ...manifest, metadata: { ...manifest.metadata, namespace: "default" } }]);
  const path = `jsonpath={range .items[*]}{.spec.containers[0].image} {.status.containerStatuses[0].ready}{"\\n"}{end}`;
  const label = `--selector=drover.dev/function=${functionName(delivery)}`;
  for (;;) {
    const pods = (await world.kubectl("get", "pods", label, "--output", path)).trim().split("\n");
    if (pods.every((pod) => pod === `${image} true`)) return;
    await delay(200);
  }
}

process.exit(await main());
