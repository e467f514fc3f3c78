import { objectKey, ReconcileFunction } from "@drover/controller";
import { type KubeClient, refOf } from "@drover/kube";
import { beforeEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { waitForRollout } from "./wait-for-rollout.ts";

const { client } = await sandboxOfFile({ kinds: [ReconcileFunction] });
const ref = refOf(ReconcileFunction);
const key = objectKey({ namespace: "default", name: "cups" });

beforeEach(async () => {
  await client.delete(ref, key);
  await client.create(ref, {
    metadata: { name: "cups", namespace: "default" },
    spec: { for: { group: "a.b", version: "v1", kind: "Cup", plural: "cups", scope: "Namespaced" } },
  });
});

/** As the functions' controller would; `rollout` is its RolledOut condition. */
function state(
  status: "True" | "False",
  reason: string,
  message: string,
  { observedGeneration = 1, rollout = [] }: { observedGeneration?: number; rollout?: readonly string[] } = {},
) {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const [rolledOut, why, words] = rollout;
  const conditions = [
    { type: "Ready", status, reason, message, lastTransitionTime },
    ...(rolledOut === undefined
      ? []
      : [{ type: "RolledOut", status: rolledOut, reason: why, message: words, lastTransitionTime }]),
  ];
  const body = { status: { observedGeneration, conditions } };
  return client.patch(ref, key, { type: "merge", body }, { subresource: "status" });
}
const forEver = 100_000;
const waiting = (span: number, print: (words: string) => void = () => undefined) =>
  waitForRollout({ client, ref, key }, span, print);

it("prints why the function is not Ready yet, and returns when it is", async () => {
  await state("False", "NoPodReady", "Its Pods\u001b[31m are starting.");
  const news: string[] = [];
  const ready = waiting(forEver, (words) => {
    news.push(words);
    void state("True", "Running", "1 of 1 Pods are Ready.");
  });
  expect(await ready).toMatchObject({ reason: "Running" });
  expect(news).toEqual(["NoPodReady: Its Pods [31m are starting."]);
});

it("prints the same reason only once", async () => {
  await state("False", "NoPodReady", "Its Pods are starting.");
  let looks = 0;
  const get: KubeClient["get"] = async (...asked) => {
    if (++looks === 4) await state("True", "Running", "1 of 1 Pods are Ready.");
    return client.get(...asked);
  };
  const news: string[] = [];
  await waitForRollout({ client: { ...client, get }, ref, key }, forEver, (words) => void news.push(words));
  expect(news).toEqual(["NoPodReady: Its Pods are starting."]);
});

it("ignores a status of an older spec", async () => {
  await state("True", "Running", "", { observedGeneration: 0 });
  await expect(waiting(0)).rejects.toThrow(
    "default/cups is not Ready: the deployer has not processed it since it was written.",
  );
});

it("gives up at once on what does not pass by itself", async () => {
  await state("False", "PermissionNotHeld", "ada may not get secrets.");
  await expect(waiting(forEver)).rejects.toThrow(
    /^default\/cups is not Ready: PermissionNotHeld: ada may not get secrets\.$/,
  );
});

it("ends when the function is deleted", async () => {
  await state("False", "NoPodReady", "");
  const gone = waiting(forEver, () => void client.delete(ref, key));
  await expect(gone).rejects.toThrow("default/cups was deleted while it was waited for.");
});

it("an image that does not exist fails at once, though nothing is due", async () => {
  await state("False", "NoPodReady", "", {
    rollout: ["False", "NewPodsDoNotStart", "ErrImagePull: no such"],
  });
  const news: string[] = [];
  const failed = waiting(forEver, (words) => {
    news.push(words);
    void state("False", "NoPodReady", "", {
      rollout: ["False", "ImageNotPulled", "ImagePullBackOff: no such"],
    });
  });
  await expect(failed).rejects.toThrow(
    /^default\/cups is not Ready: ImageNotPulled: ImagePullBackOff: no such\.$/,
  );
  expect(news).toHaveLength(1);
});

it("a version that does not take over fails when the time is over, though Pods of the one before are Ready", async () => {
  await state("True", "Running", "1 of 1", { rollout: ["False", "NewPodsDoNotStart", "exit code 3"] });
  await expect(waiting(0)).rejects.toThrow(
    "default/cups is not rolled out: NewPodsDoNotStart: exit code 3. Pods of the previous version keep running.",
  );
});

it.each([
  ["is rolled out", ["True", "AllOfOneRevision", ""]],
  ["is paused", ["Unknown", "Paused", ""]],
  ["has no container", []],
])("answers for a function that %s", async (_, rollout) => {
  await state("True", "ScaledToZero", "", { rollout });
  expect(await waiting(0)).toMatchObject({ status: "True" });
});
