import { controllerFrom, objectKey, silentLog } from "@drover/controller";
import { builtin, connect, eventRecorder, type KubeClient, refOf } from "@drover/kube";
import type { RunOutcome } from "@drover/queue";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { Cup, installStricterCups } from "./cups.fixture.ts";
import { runOf } from "./widgets.fixture.ts";
import { reconcileOnce } from "./reconcile-once.ts";

// A status that a real API server refuses is reported in the object and in Events.
const ref = refOf(Cup);
const key = objectKey({ namespace: "default", name: "cup" });

let cluster: RealCluster;
let client: KubeClient;
beforeAll(async () => {
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig });
  await installStricterCups(client);
  await client.create(ref, { metadata: { namespace: "default", name: "cup" }, spec: {} });
}, 600_000);
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

async function run(status: unknown): Promise<RunOutcome> {
  const recorder = eventRecorder({ client, log: silentLog, controller: "drover.dev/cups", instance: "test" });
  const controller = controllerFrom({ for: Cup, reconcile: () => Promise.resolve({ status } as never) });
  const outcome = await reconcileOnce(
    {
      controller,
      client,
      log: silentLog,
      announce: ({ metadata }, event) => recorder.record({ regarding: { ref, metadata }, ...event }),
    },
    runOf("cup"),
  );
  await recorder.close();
  return outcome;
}

const shown = z.looseObject({
  status: z.looseObject({ conditions: z.array(z.looseObject({ type: z.string() })) }),
});
const look = async () => shown.parse(await client.get(ref, key)).status;
const notes = async () => {
  const { items } = await client.list(builtin.event, { namespace: "default" });
  return items.map((event) => z.looseObject({ note: z.string() }).parse(event).note);
};

it.each<[string, unknown, string, RegExp]>([
  ["NaN", { n: NaN }, "InvalidResult", /status\.n: JSON has no NaN/],
  ["a string that is too long", { text: "too long by far" }, "WriteRefused", /status\.text: Too long/],
])("a status with %s is reported in the object and in an Event", async (_, status, reason, words) => {
  expect(await run({ text: "before", n: 1 })).toMatchObject({ kind: "done" });
  expect(await run(status)).toMatchObject({ kind: "retry" });
  const now = await look();
  expect(now).toMatchObject({ text: "before", n: 1 });
  expect(now.conditions).toEqual([
    expect.objectContaining({
      type: "Ready",
      status: "False",
      reason,
      message: expect.stringMatching(words) as string,
    }),
    expect.objectContaining({ type: "Reconciling" }),
  ]);
  await vi.waitFor(async () => expect((await notes()).join("\n")).toMatch(words));
  const { resourceVersion } = (await client.get(ref, key))?.metadata ?? {};
  await run(status);
  expect((await client.get(ref, key))?.metadata.resourceVersion, "is written once").toBe(resourceVersion);
});
