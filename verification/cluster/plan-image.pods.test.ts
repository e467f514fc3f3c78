// `drover plan --image` with a kubelet, containers, a garbage collector and ServiceAccounts.
import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { configMaps, Cup, cups } from "../../apps/cli/src/testing/cups.fixture.ts";
import { spawnDrover } from "../../apps/cli/src/testing/run-command.ts";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { object } from "../harness/manifests.ts";
import { root } from "../harness/repository-files.ts";
import { eventually, startPodCluster } from "./pod-cluster.ts";

const cwd = folderOfFile();
const cluster = await startPodCluster(
  { of: "cups", entry: "verification/plans/cups-in-image.ts", as: "example/cups:1" },
  { of: "pulled-cups", entry: "verification/plans/pulled-cups/main.ts", as: "example/pulled-cups:1" },
  { of: "older-cups", entry: "verification/plans/pulled-cups/older.ts", as: "example/older-cups:1" },
);
afterAll(() => cluster.stop());
await cluster.apply({ ...customResourceDefinition(Cup) });
await cluster.wait("condition=Established", "crd/cups.example.com");
// The function does not answer calls about b.
await cluster.apply(object(Cup, "a", { tea: "green" }), object(Cup, "b", { tea: "silent" }));

function writeFunction(
  folder: string,
  env: Readonly<Record<string, string>>,
  delivery: object = { delivery: "webhook", webhook: { composes: true } },
): void {
  const container = {
    image: "example/cups:0",
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    volumes: [{ name: "seen", mountPath: "/seen", emptyDir: {} }],
  };
  const spec = { for: cups, owns: [configMaps], ...delivery, container };
  const { apiVersion, kind } = ReconcileFunction;
  mkdirSync(join(cwd, folder), { recursive: true });
  writeFileSync(
    join(cwd, folder, "function.yaml"),
    stringify({ apiVersion, kind, metadata: { name: "cups" }, spec }),
  );
}
// The root file system is read-only.
const seen = { SEEN: "/seen/seen.json" };
writeFunction("deploy", { ...seen, VERSION: "one" });

const words = (cup: string, image: string, ...more: readonly string[]) => [
  ...["plan", `cup/${cup}`, "--kubeconfig", cluster.kubeconfigOutside, "--image", image, ...more],
];
const plan = (...given: Parameters<typeof words>) => spawnDrover(words(...given), { cwd });
const start = (...given: Parameters<typeof words>): ChildProcess =>
  spawn(process.execPath, [join(root, "apps/cli/src/main.ts"), ...words(...given)], { cwd });

/** The Pods and NetworkPolicies of plans. */
const left = async () =>
  (await cluster.kubectl(["get", "pods,networkpolicies", "-l", "drover.dev/plan", "-o", "name"]))
    .split("\n")
    .filter((name) => name !== "");
const podSchema = z.looseObject({
  status: z.looseObject({ phase: z.string(), reason: z.string().optional() }),
});
const readyPod = async (): Promise<string> => {
  const [pod = ""] = await left();
  await cluster.wait("condition=Ready", pod);
  return pod;
};
const exec = (pod: string, script: string): Promise<string> =>
  cluster.kubectl(["exec", pod, "--", "node", "-e", script]);

it("plans with the code of the image, and leaves nothing behind", async () => {
  const begun = performance.now();
  const { code, stdout, stderr } = await plan("a", "example/cups:1");
  console.log(`Planned in ${Math.round(performance.now() - begun)} ms`);
  expect(stdout).toContain(`
  + ConfigMap default/a would be created
      + metadata.ownerReferences["Cup a"]: "controller"
      + data.tea: "green"
      + data.version: "one"
`);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^The Pod \S+ starts with example\/cups:1\.\n$/)]);
  expect(await left()).toEqual([]);
});

it("the container has no token and no variables of Drover's servers, and the Pod is gone after SIGINT", async () => {
  const running = start("b", "example/cups:1");
  await eventually(async () => expect(await left()).toHaveLength(2));
  const pod = await readyPod();
  const script = `
    const { readdirSync } = require("node:fs");
    const files = (folder) => { try { return readdirSync(folder); } catch (error) { return error.code; } };
    console.log(JSON.stringify({
      runs: files("/var/run"), drover: files("/var/run/drover"), tokens: files("/var/run/secrets"),
      variables: Object.keys(process.env).filter((name) => /DROVER|KUBE|REDIS|SERVICE/.test(name)).sort(),
    }));`;
  expect(JSON.parse(await exec(pod, script))).toEqual({
    runs: expect.arrayContaining(["drover"]) as unknown,
    drover: ["webhook"],
    tokens: "ENOENT",
    variables: [
      ...["DROVER_HTTP_HOST", "DROVER_HTTP_PORT", "DROVER_STOP_GRACE", "DROVER_WEBHOOK_AUDIENCE"],
      ...["DROVER_WEBHOOK_SECRETS", "DROVER_WEBHOOK_UID", "KUBERNETES_PORT", "KUBERNETES_PORT_443_TCP"],
      ...["KUBERNETES_PORT_443_TCP_ADDR", "KUBERNETES_PORT_443_TCP_PORT", "KUBERNETES_PORT_443_TCP_PROTO"],
      ...["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBERNETES_SERVICE_PORT_HTTPS"],
    ],
  });
  running.kill("SIGINT");
  expect(await once(running, "close")).toEqual([130, null]);
  expect(await left()).toEqual([]);
});

it("explains that an image cannot be pulled, and shows the last output of one that ends", async () => {
  const { code, stderr } = await plan("a", "example/absent:1");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/does not start: ErrImagePull: .*example\/absent:1/),
  ]);
  writeFunction("broken", seen);
  const { stderr: broken } = await plan("a", "example/cups:1", "--dir", "broken");
  expect(broken).toMatch(
    /does not start: Error: its container ended with exit code 1\nIts last output:\n[^]*VERSION/,
  );
  expect(await left()).toEqual([]);
});

it("a plan that is killed leaves a Pod that the kubelet ends, and the next plan deletes it", async () => {
  const running = start("b", "example/cups:1");
  await eventually(async () => expect(await left()).toHaveLength(2));
  const pod = await readyPod();
  running.kill("SIGKILL");
  await once(running, "close");
  // It would take ten minutes.
  await cluster.kubectl(["patch", pod, "--type=merge", "-p", '{"spec":{"activeDeadlineSeconds":1}}']);
  await eventually(async () =>
    expect(await cluster.get(pod, podSchema)).toMatchObject({
      status: { phase: "Failed", reason: "DeadlineExceeded" },
    }),
  );
  expect((await plan("a", "example/cups:1")).code).toBe(2);
  // The garbage collector deletes the NetworkPolicy with the Pod.
  await eventually(async () => expect(await left()).toEqual([]));
});

it("plans with an image of a function that pulls, which takes no keys; an older runtime is named as the reason", async () => {
  writeFunction("pulled", { VERSION: "two" }, {});
  const { code, stdout, stderr } = await plan("a", "example/pulled-cups:1", "--dir", "pulled");
  expect(stdout).toContain(`
  + ConfigMap default/a would be created
      + metadata.ownerReferences["Cup a"]: "controller"
      + data.tea: "green"
      + data.version: "two"
`);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^The Pod \S+ starts with example\/pulled-cups:1\.\n$/),
  ]);
  const { stderr: older } = await plan("a", "example/older-cups:1", "--dir", "pulled");
  expect(older).toMatch(
    /exit code 1\nIts last output:\n[^]*DROVER_PLAN_SECRETS is not a setting[^]*\nThe image has no runtime of Drover/,
  );
  expect(await left()).toEqual([]);
});
