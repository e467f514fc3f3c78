import {
  type ControllerDefinition,
  controllerFrom,
  customResourceDefinition,
  defineResource,
  objectKey,
  ReconcileFunction,
  RetryAfterError,
  silentLog,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { connect, installCrd, type KubeClient, type KubeObject, refOf } from "@drover/kube";
import { startRedis } from "@drover/local-servers";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { reconcileOnce } from "@drover/runtime";
import { Redis } from "ioredis";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { goLines } from "../harness/go-lines.ts";

/* How Helm's --wait and Flux (by kstatus, a Go module) and Argo CD (by the script that ships here) judge an object. */
const Cup = defineResource({
  group: "tests.drover.dev",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({ size: z.number().optional() }),
  status: z.object({ text: z.string() }),
});
const ref = refOf(Cup);
type Reconcile = ControllerDefinition<typeof Cup>["reconcile"];
const failing =
  (error: Error): Reconcile =>
  () =>
    Promise.reject(error);
const done: Reconcile = () => Promise.resolve({});
const reporting =
  (status: "True" | "False" | "Unknown", type = "Ready"): Reconcile =>
  () =>
    Promise.resolve({ conditions: [{ type, status, reason: "Why", message: "In words." }] });

/** What has become of an object: its runs, and whether it was changed or deleted since. */
interface Story {
  readonly runs: readonly Reconcile[];
  /** Failures in a row before the last run. */
  readonly fails?: number;
  readonly then?: "changed" | "deleted" | "paused";
  readonly kstatus: string;
  readonly argo: string;
}
const progressing = { kstatus: "InProgress", argo: "Progressing" };
const failed = { kstatus: "Failed", argo: "Degraded" };
const current = { kstatus: "Current", argo: "Healthy" };
const stories: Readonly<Record<string, Story>> = {
  "has not run yet": { runs: [], ...progressing },
  "is as asked for": { runs: [done], ...current },
  "was changed since": { runs: [done], then: "changed", ...progressing },
  "is not Ready by its function's own condition": { runs: [reporting("False")], ...progressing },
  "is perhaps Ready": { runs: [reporting("Unknown")], ...progressing },
  "is Ready, with a condition beside it": { runs: [reporting("False", "Versioned")], ...current },
  "has failed, and is tried again": { runs: [failing(new Error("no"))], ...progressing },
  "has failed as often as it may": { runs: [failing(new Error("no"))], fails: 2, ...failed },
  "has failed once less": { runs: [failing(new Error("no"))], fails: 1, ...progressing },
  "waits for something": { runs: [failing(new RetryAfterError("wait", { after: "1m" }))], ...progressing },
  "is throttled": {
    runs: [failing(new ThrottledError("slow", { account: "a", after: "1m" }))],
    ...progressing,
  },
  "is parked": { runs: [failing(new TerminalError("never"))], ...failed },
  "was parked, and was changed since": {
    runs: [failing(new TerminalError("never"))],
    then: "changed",
    ...progressing,
  },
  "was parked, and is as asked for": { runs: [failing(new TerminalError("never")), done], ...current },
  "was well, and is parked": { runs: [done, failing(new TerminalError("never"))], ...failed },
  "was parked, and fails": {
    runs: [failing(new TerminalError("never")), failing(new Error("no"))],
    ...progressing,
  },
  "is Stalled by its function's own condition": { runs: [reporting("True", "Stalled")], ...failed },
  "returns what cannot be written": {
    runs: [() => Promise.resolve({ status: { text: 1 } } as never)],
    ...progressing,
  },
  "is paused by its annotation": { runs: [done], then: "paused", kstatus: "Current", argo: "Suspended" },
  "is deleted": { runs: [done], then: "deleted", kstatus: "Terminating", argo: "Progressing" },
};

let cluster: RealCluster;
let client: KubeClient;
beforeAll(async () => {
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig });
  for (const kind of [Cup, ReconcileFunction])
    await installCrd(client, { ...customResourceDefinition(kind) });
}, 600_000);
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

/** The object at the end of its story, as the API server gives it. */
async function objectOf({ runs, fails = 0, then }: Story, n: number): Promise<KubeObject> {
  const key = objectKey({ namespace: "default", name: `cup-${n}` });
  const metadata = { namespace: "default", name: `cup-${n}`, finalizers: ["tests.drover.dev/stays"] };
  await client.create(ref, { metadata, spec: { size: 1 } });
  for (const reconcile of runs) {
    const controller = controllerFrom({ for: Cup, reconcile, retry: { attempts: 3 } });
    await reconcileOnce(
      { controller, client, log: silentLog, announce: () => undefined },
      {
        key,
        token: "t",
        signal: new AbortController().signal,
        hasLease: () => true,
        claim: { fails, reasons: [], class: "change", versions: {} },
      },
    );
  }
  if (then === "changed") await client.patch(ref, key, { type: "merge", body: { spec: { size: 2 } } });
  const annotations = { "drover.dev/paused": "true" };
  if (then === "paused") await client.patch(ref, key, { type: "merge", body: { metadata: { annotations } } });
  if (then === "deleted") await client.delete(ref, key);
  const object = await client.get(ref, key);
  if (object === undefined) throw new Error(`${key} is gone.`);
  return object;
}

/** As kstatus has it, of each object. */
async function byKstatus(objects: readonly KubeObject[]): Promise<readonly string[]> {
  const input = objects.map((one) => JSON.stringify(one));
  const lines = await goLines(import.meta.dirname, input);
  return lines.map((line) => line.split("\t")[0] ?? "");
}

/** By the script for Argo CD, in the Lua that Redis has, too. */
async function byArgo(objects: readonly KubeObject[]): Promise<readonly unknown[]> {
  const script = readFileSync(new URL("../../infra/argo-cd/health.lua", import.meta.url), "utf8");
  const server = await startRedis({ persistence: false });
  const redis = new Redis(server.url);
  try {
    const lua = `local obj = cjson.decode(ARGV[1])\nlocal function judge()\n${script}\nend\nreturn judge().status`;
    return await Promise.all(objects.map((one) => redis.eval(lua, 0, JSON.stringify(one))));
  } finally {
    redis.disconnect();
    await server.stop();
  }
}

it("an object is judged as what has become of it", async () => {
  const names = Object.keys(stories);
  const objects: KubeObject[] = [];
  for (const [n, story] of Object.values(stories).entries()) objects.push(await objectOf(story, n));
  const [kstatus, argo] = [await byKstatus(objects), await byArgo(objects)];
  expect(names.map((name, n) => [name, kstatus[n], argo[n]])).toEqual(
    Object.entries(stories).map(([name, story]) => [name, story.kstatus, story.argo]),
  );
}, 600_000);

it("a function without a status does not count as deployed", async () => {
  const { group, version, kind, plural, scope } = Cup;
  const object = await client.create(refOf(ReconcileFunction), {
    metadata: { namespace: "default", name: "cups" },
    spec: { for: { group, version, kind, plural, scope }, container: { image: "cups:1" } },
  });
  expect(await byKstatus([object])).toEqual(["InProgress"]);
}, 600_000);
