// `helm upgrade` to the next version of chart and images, and `helm rollback`, while objects change.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { deliveries, notesFunction } from "../upgrades/notes.ts";
import { crds, functions, objects, recordingAt, unseenIn, violationsIn } from "../upgrades/recording.ts";
import { type EmptyCluster, parts, redisValue, startEmptyCluster } from "./chart-in-pods.ts";
import { eventually } from "./pod-cluster.ts";

const folder = folderOfFile();
const versions = ["0.1.0", "0.2.0"];
const node = "10.99.0.1";
const port = 7070;
let cluster: EmptyCluster;
let recording: ReturnType<typeof recordingAt>;
const helm = (command: string, ...args: readonly string[]): Promise<string> =>
  cluster.helm.run(command, "drover", ...args, "--namespace=drover", "--wait");
const release = (command: string, version: string, ...args: readonly string[]): Promise<string> =>
  helm(command, cluster.chartUrl, "--plain-http", `--version=${version}`, "--set", redisValue, ...args);

beforeAll(async () => {
  const images = deliveries.map((of) => ({
    of,
    entry: `verification/upgrades/${of}.ts`,
    as: `upgrades/${of}:1`,
  }));
  cluster = await startEmptyCluster(folder, versions, ...images);
  await release("install", "0.1.0", "--create-namespace");
  await cluster.installed();
  await cluster.apply(...crds);
  await cluster.wait(
    "condition=Established",
    "crd/notes.upgrades.drover.dev",
    "crd/calls.upgrades.drover.dev",
  );
  await cluster.apply(...objects);
  const options = { kubeconfig: cluster.kubeconfig, host: node, port, perSecond: 210 };
  const recorder = await cluster.spawn({
    name: "recorder",
    command: process.execPath,
    args: [new URL("../upgrades/recorder.ts", import.meta.url).pathname, JSON.stringify(options)],
    logFile: join(folder, "recorder.log"),
  });
  void recorder.exited.then(() => console.log(readFileSync(recorder.logFile, "utf8")));
  recording = recordingAt(`http://127.0.0.1:${(await cluster.reach(node, port)).port}`);
  await eventually(() => recording.report());
  const url = `http://${node}:${port}`;
  await cluster.apply(...deliveries.map((one) => notesFunction(one, `upgrades/${one}:1`, url)));
  await cluster.wait("condition=Ready", ...functions);
  await atRest();
}, 900_000);
afterAll(() => cluster.stop());

const atRest = () => eventually(async () => expect(unseenIn(await recording.report())).toEqual([]));
const imagesNow = async () => {
  const path = "jsonpath={.items[*].spec.containers[0].image}";
  const label = "drover.dev/component in (bridge, deployer, gateway)";
  return (await cluster.inDrover("get", "pods", "-l", label, "-o", path)).split(" ").sort();
};
const imagesOf = (version: string) => parts.map((part) => `drover/${part}:${version}`);

it.each([
  ["helm upgrade", "0.2.0", () => release("upgrade", "0.2.0")],
  ["helm rollback", "0.1.0", () => helm("rollback", "1")],
] as const)(
  "%s: nothing is lost, runs twice at once, or fails",
  async (name, version, change) => {
    await recording.startLoad();
    const begun = await eventually(async () => {
      const report = await recording.report();
      expect(report.changes).toBeGreaterThan(1_000);
      return report;
    });
    await change();
    await cluster.installed();
    const changed = await recording.report();
    await eventually(async () => expect(await imagesNow()).toEqual(imagesOf(version)));
    await recording.stopLoad();
    await atRest();
    const after = await recording.report();
    console.log(
      `${name}: ${after.perSecond} changes/s, ${JSON.stringify(changed.runs)} runs, longest time without a run ${JSON.stringify(after.longestGap)} ms`,
    );
    expect(violationsIn(after)).toEqual([]);
    expect(changed.runs.pulled).toBeGreaterThan(begun.runs.pulled);
    expect(changed.runs.called).toBeGreaterThan(begun.runs.called);
    await cluster.wait("condition=Ready", ...functions);
  },
  600_000,
);
