// `drover plan --image` on a real API server, with a node that runs Pods as processes. What there is before, meanwhile and after
// is read with kubectl, and by the program in the Pod.
import { type FaultDecider, noFaults, startFaultProxy } from "@drover/testing/fault-proxy";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import type { CommandResult } from "../../apps/cli/src/testing/run-command.ts";
import { functionObjects } from "../../apps/deployer/src/objects/function-objects.ts";
import { observePods } from "../../apps/deployer/src/pods/observe-pods.ts";
import { cupSpec, environment } from "../../apps/deployer/src/testing/cups.ts";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { root } from "../harness/repository-files.ts";
import {
  cupRules,
  type ImageStage,
  podRules,
  proxyRules,
  selectorSchema,
  startImageStage,
  type World,
} from "./image-stage.ts";

const image = (version: string) => ({
  command: [process.execPath, join(root, "verification/plans/cups-in-image.ts")],
  env: { VERSION: version, NODE_NO_WARNINGS: "1" },
});
const shell = (script: string) => ({ command: ["/bin/sh", "-c", script] });
const images = {
  "cups:1": image("one"),
  "cups:2": image("two"),
  "fails:1": shell("exit 3"),
  "deaf:1": shell("exec sleep 1000"),
};

const folder = folderOfFile();
let stage: ImageStage;
const openWorld: ImageStage["openWorld"] = (options) => stage.openWorld(options);

describe("drover plan --image", { timeout: 180_000 }, () => {
  // A signature is valid for five minutes.
  beforeEach(() => vi.stubEnv("LOCAL_CLOCKS", undefined));
  beforeAll(async () => (stage = await startImageStage({ images, folder })), 900_000);
  afterAll(() => stage.stop());

  it("plans as --url does, and leaves nothing behind", async () => {
    const world = await openWorld();
    const before = world.objects();
    const { code, stdout, stderr } = await world.plan("cups:1");
    expect(stdout).toContain(`
  + ConfigMap ${world.namespace}/a would be created
      + metadata.ownerReferences["Cup a"]: "controller"
      + data.tea: "green"
      + data.version: "one"
`);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^The Pod \S+\/cups-plan-[0-9a-f]{8} starts with cups:1\.\n$/);
    expect(world.objects()).toEqual(before);
    expect(await planAtUrl(world)).toEqual({ code, stdout, stderr: "" });
    expect((await world.plan("cups:2")).stdout).toBe(stdout.replace('"one"', '"two"'));
    expect(world.objects()).toEqual(before);
  });

  it("calls hooks of Metacontroller at their paths", async () => {
    const world = await openWorld({
      webhook: { metacontroller: { controller: "Composite", sync: "/../sync" } },
    });
    const { code, stdout } = await world.plan("cups:1");
    expect([code, stdout]).toEqual([2, expect.stringContaining('+ data.version: "one"')]);
    expect(world.seen().url).toBe("/sync");
  });

  it("shows the program no credentials, and a secret that is used once", async () => {
    const world = await openWorld();
    const uid = world.register();
    await world.plan("cups:1");
    const seen = world.seen();
    expect(Object.keys(seen.env).sort()).toEqual([
      ...["DROVER_HTTP_HOST", "DROVER_HTTP_PORT", "DROVER_STOP_GRACE", "DROVER_WEBHOOK_AUDIENCE"],
      ...[
        "DROVER_WEBHOOK_SECRETS",
        "DROVER_WEBHOOK_UID",
        "HOSTNAME",
        "NODE_NO_WARNINGS",
        "PATH",
        "PWD",
        "SEEN",
        "VERSION",
      ],
    ]);
    expect(seen.env).toMatchObject({
      DROVER_WEBHOOK_AUDIENCE: `${world.namespace}/cups`,
      DROVER_WEBHOOK_UID: uid,
    });
    expect(seen.files.filter((file) => !file.startsWith(".."))).toEqual(["current"]);
    expect(Object.keys(seen.headers)).not.toContain("authorization");
    expect([seen.method, seen.url]).toEqual(["POST", "/"]);
    await world.plan("cups:1");
    expect(world.seen().secret).toMatch(/^whsec_/);
    expect(world.seen().secret).not.toBe(seen.secret);
  });

  it("runs a Pod that neither Service, scaler nor deployer counts, and that may connect to nothing", async () => {
    const world = await openWorld({ tea: "silent" });
    const running = world.start("cups:1");
    await world.called();
    const [pod, ...others] = world.pods();
    expect(others).toEqual([]);
    const fn = { name: "cups", namespace: world.namespace, uid: world.register() };
    const spec = cupSpec({ container: { image: "cups:1" }, delivery: "webhook" });
    const selectors = functionObjects(fn, spec, environment).flatMap(({ object }) => selectorsIn(object));
    expect(selectors).toHaveLength(2);
    for (const labels of selectors) expect(world.pods(labels)).toEqual([]);
    expect(await observePods(stage.admin, fn, new AbortController().signal)).toEqual([]);
    expect(pod?.metadata).toMatchObject({ labels: { "drover.dev/plan": "cups" } });
    expect(JSON.stringify(pod?.metadata)).not.toMatch(/azure|vault|drover.dev\/function/);
    expect(pod?.spec).toMatchObject({
      automountServiceAccountToken: false,
      serviceAccountName: "default",
      restartPolicy: "Never",
      activeDeadlineSeconds: 600,
      terminationGracePeriodSeconds: 1,
    });
    const { volumes } = z.looseObject({ volumes: z.array(z.looseObject({})) }).parse(pod?.spec);
    expect(volumes.flatMap((volume) => Object.keys(volume))).toEqual(["name", "downwardAPI"].sort());
    const [policy] = world.list("networkpolicies");
    expect(policy).toMatchObject({
      metadata: { ownerReferences: [{ kind: "Pod", uid: pod?.metadata.uid }] },
      spec: { policyTypes: ["Ingress", "Egress"], ingress: [{ ports: [{ port: world.port }] }] },
    });
    expect(policy?.spec).not.toHaveProperty("egress");
    const { podSelector } = z.looseObject({ podSelector: selectorSchema }).parse(policy?.spec);
    expect(world.pods(podSelector.matchLabels).map(({ metadata }) => metadata.name)).toEqual([
      pod?.metadata.name,
    ]);
    running.kill("SIGTERM");
    await once(running, "close");
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("deletes the Pod before it ends by %s", async (signal, code) => {
    const world = await openWorld({ tea: "silent" });
    const before = world.objects();
    const running = world.start("cups:1");
    await world.called();
    running.kill(signal);
    expect(await once(running, "close")).toEqual([code, null]);
    expect(world.objects()).toEqual(before);
  });

  it("deletes the Pod if nothing reads what it prints", async () => {
    const world = await openWorld();
    const before = world.objects();
    const running = world.start("cups:1");
    running.stdout?.destroy();
    expect(await once(running, "close")).toEqual([141, null]);
    expect(world.objects()).toEqual(before);
  });

  it("deletes the Pod if it is asked to end before the Pod is Ready", async () => {
    const world = await openWorld();
    const before = world.objects();
    const running = world.start("deaf:1");
    await expect.poll(() => world.pods()).toHaveLength(1);
    running.kill("SIGINT");
    expect(await once(running, "close")).toEqual([130, null]);
    expect(world.objects()).toEqual(before);
  });

  it.each([
    ["absent:1", /does not start: ImagePullBackOff: /],
    ["fails:1", /does not start: Error: its container ended with exit code 3/],
    ["deaf:1", /is not Ready within 3s \(--wait\): it accepts no connection at its port/],
  ])("explains why %s does not start", async (name, problem) => {
    const world = await openWorld();
    const before = world.objects();
    const { code, stderr, stdout } = await world.plan(name, "--wait", "3s");
    expect(stderr).toMatch(problem);
    expect([code, stdout]).toEqual([1, ""]);
    expect(world.objects()).toEqual(before);
  });

  it("names the rules that the user lacks, and makes nothing", async () => {
    const world = await openWorld({
      rules: [cupRules, { apiGroups: [""], resources: ["pods"], verbs: ["get", "create"] }],
    });
    const before = world.objects();
    const { code, stderr } = await world.plan("cups:1");
    expect(stderr)
      .toBe(`error: --image runs the image in a Pod of the namespace ${world.namespace}, and calls it. You may not:
  - delete pods in namespace ${world.namespace}
  - create pods/proxy in namespace ${world.namespace}
Ask for a Role in this namespace with these rules:
- {"apiGroups":[""],"resources":["pods"],"verbs":["delete"]}
- {"apiGroups":[""],"resources":["pods/proxy"],"verbs":["create"]}
Or run the function yourself, and give its URL: --url URL
`);
    expect(code).toBe(1);
    expect(world.objects()).toEqual(before);
  });

  it("plans without a NetworkPolicy if the user may make none, and says so", async () => {
    const world = await openWorld({ rules: [cupRules, podRules, proxyRules], tea: "silent" });
    const running = world.start("cups:1");
    const printed = collected(running.stderr);
    await world.called();
    expect(world.list("networkpolicies")).toEqual([]);
    running.kill("SIGTERM");
    await once(running, "close");
    expect(printed()).toContain(
      `You may not create, patch and delete networkpolicies in namespace ${world.namespace}`,
    );
    expect(world.pods()).toEqual([]);
  });

  it("runs its Pod where only restricted ones are admitted", async () => {
    const world = await openWorld({ labels: { "pod-security.kubernetes.io/enforce": "restricted" } });
    const { code, stdout } = await world.plan("cups:1");
    expect([code, stdout]).toEqual([2, expect.stringContaining('+ data.version: "one"')]);
  });

  it("deletes what a plan left that was killed", async () => {
    const world = await openWorld({ tea: "silent" });
    const running = world.start("cups:1");
    await world.called();
    running.kill("SIGKILL");
    await once(running, "close");
    const [left] = world.pods();
    // As the kubelet does after activeDeadlineSeconds.
    const status = JSON.stringify({ status: { phase: "Failed", reason: "DeadlineExceeded" } });
    const target = ["pod", left?.metadata.name ?? "", "-n", world.namespace];
    stage.kubectl("patch", ...target, "--subresource=status", "--type=merge", "-p", status);
    world.write({ tea: "green" });
    await world.plan("cups:1");
    // No garbage collector runs here. It deletes the policy with the Pod that owns it.
    stage.kubectl("delete", "networkpolicy", left?.metadata.name ?? "", "-n", world.namespace);
    expect(world.objects().map(([kind]) => kind)).toEqual(["cups"]);
  });

  it.each([
    ["unsigned", "HTTP 200, is not signed"],
    ["redirect", "answered 307, a redirect, which is not followed"],
    ["huge", "did not answer: its answer has more than 1048576 bytes"],
    ["forbidden", "HTTP 403 came in place of its answer. You need the permission to create pods/proxy"],
    ["escapes", "The function failed: [2J done"],
    ["exits", "its Pod has ended: Error: its container ended with exit code 7"],
  ])(
    "takes an answer that is %s for a failure, and writes none of it to the terminal",
    async (tea, problem) => {
      const world = await openWorld({ tea });
      const before = world.objects();
      const { code, stdout, stderr } = await world.plan("cups:1");
      expect(stdout).toContain("The run would fail: ");
      expect(stdout).toContain(problem);
      expect(code).toBe(1);
      expect(stdout + stderr).not.toMatch(/hunter2|[\u001b\u202e]/);
      expect(world.objects()).toEqual(before);
    },
  );

  it("explains that the API server does not forward calls", async () => {
    const world = await openWorld();
    const message = "no route";
    const proxy = await startFaultProxy({
      upstream: { kubeconfig: stage.cluster.kubeconfig },
      decider: noFaults,
      authorize: ({ path }) =>
        path.endsWith("/proxy/") ? { kind: "Status", apiVersion: "v1", code: 403, message } : undefined,
    });
    onTestFinished(() => proxy.close());
    const kubeconfig = join(world.cwd, "proxied");
    writeFileSync(kubeconfig, proxy.kubeconfig());
    const { stdout } = await world.plan("cups:1", "--kubeconfig", kubeconfig);
    expect(stdout).toContain("The run would fail: The function at pod:");
    expect(stdout).toContain(`You need the permission to create pods/proxy in namespace ${world.namespace}`);
    expect(world.pods()).toEqual([]);
  });

  it("keeps the NetworkPolicy until a Pod is gone that appears after the connection of its creation broke", async () => {
    const world = await openWorld();
    const before = world.objects();
    let late: object | undefined;
    let reads = 0;
    const policies: number[] = [];
    const ofCall: FaultDecider["ofCall"] = ({ verb, resource, body }) => {
      if (resource !== "pods") return undefined;
      if (verb === "create" && body instanceof Object) {
        late = body;
        return { do: "reset" };
      }
      if (verb === "get" && ++reads === 3) stage.apply({ apiVersion: "v1", kind: "Pod", ...late });
      if (verb === "get" || verb === "delete") policies.push(world.list("networkpolicies").length);
      return undefined;
    };
    const { kubeconfig: upstream } = stage.cluster;
    const proxy = await startFaultProxy({ upstream: { kubeconfig: upstream }, decider: { ofCall } });
    onTestFinished(() => proxy.close());
    const kubeconfig = join(world.cwd, "proxied");
    writeFileSync(kubeconfig, proxy.kubeconfig());
    const { code, stderr } = await world.plan("deaf:1", "--kubeconfig", kubeconfig);
    expect([code, stderr]).toEqual([1, expect.stringContaining("No answer from the API server")]);
    expect(reads).toBeGreaterThan(3);
    expect(new Set(policies)).toEqual(new Set([1]));
    expect(world.objects()).toEqual(before);
  });

  it("sends related Secrets to an image only if it is told to", async () => {
    const kind = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
    const world = await openWorld({ watches: [{ ...kind, related: true, names: { all: true } }] });
    expect((await world.plan("cups:1")).stderr).toMatch(
      /sent to the image\. If you trust it, add --send-secrets/,
    );
    expect(world.pods()).toEqual([]);
    expect(existsSync(world.seenFile)).toBe(false);
  });

  it("refuses options that contradict each other, and a container that sets Drover's variables", async () => {
    const world = await openWorld({ env: [{ name: "DROVER_WEBHOOK_UID", value: "x" }] });
    expect((await world.plan("cups:1", "--url", "http://localhost/")).stderr).toContain(
      "cannot be used with option",
    );
    expect((await world.plan("cups:1")).stderr).toContain(
      "spec.container.env: DROVER_WEBHOOK_UID is set by Drover",
    );
    expect(world.pods()).toEqual([]);
  });
});

/** Plans with the code of the image cups:1, which runs here. */
async function planAtUrl({ cwd, namespace, port, seenFile, planWith }: World): Promise<CommandResult> {
  const secrets = join(cwd, "secrets");
  mkdirSync(secrets);
  writeFileSync(join(secrets, "current"), `whsec_${Buffer.alloc(24, 1).toString("base64")}`);
  const { command, env: variables } = images["cups:1"];
  const [program = "", ...args] = command;
  const running = spawn(program, args, {
    env: {
      ...variables,
      SEEN: seenFile,
      DROVER_HTTP_HOST: "127.0.0.1",
      DROVER_HTTP_PORT: String(port),
      DROVER_WEBHOOK_SECRETS: secrets,
      DROVER_WEBHOOK_AUDIENCE: `${namespace}/cups`,
      DROVER_WEBHOOK_UID: "planned",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(running.stdout, "data");
  try {
    return await planWith([
      ...["cup/a", "--url", `http://127.0.0.1:${port}/`],
      ...["--secret-file", join(secrets, "current")],
    ]);
  } finally {
    running.kill();
  }
}

function selectorsIn(object: object): readonly Readonly<Record<string, string>>[] {
  const { spec } = z.looseObject({ spec: z.looseObject({}).optional() }).parse(object);
  const service = z.looseObject({ selector: z.record(z.string(), z.string()) }).safeParse(spec)
    .data?.selector;
  const policy = z.looseObject({ podSelector: selectorSchema }).safeParse(spec).data?.podSelector.matchLabels;
  return [service, policy].filter((labels) => labels !== undefined);
}

function collected(stream: ChildProcess["stderr"]): () => string {
  let text = "";
  stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}
