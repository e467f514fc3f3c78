// `drover plan --image` of a function that pulls, on a real API server. The same function, run where the command runs, is one
// oracle. The others: kubectl for what is there, and Linux for the environment and the connections of the process in the Pod.
import { objectKey, reconcileFunctionOf, silentLog } from "@drover/controller";
import { reconcileOnce } from "@drover/runtime";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { root } from "../harness/repository-files.ts";
import {
  cupRules,
  type ImageStage,
  podRules,
  proxyRules,
  startImageStage,
  type World,
} from "./image-stage.ts";
import type { variablesOfCups } from "./pulled-cups/config.ts";
import { cupsController } from "./pulled-cups/cups.ts";

const programs = join(root, "verification/plans/pulled-cups");
const image = (CUPS: string, program = "main.ts") => ({
  command: [process.execPath, join(programs, program)],
  env: { CUPS, NODE_NO_WARNINGS: "1" },
});
const images = {
  ...Object.fromEntries(
    ["declares", "otherName", "reconciles", "reads", "keepsSecrets"].map((mode) => [
      `${mode}:1`,
      image(mode),
    ]),
  ),
  "older:1": image("declares", "older.ts"),
  "stranger:1": image("declares", "stranger.ts"),
  "liar:1": image("lies", "stranger.ts"),
  "fails:1": { command: ["/bin/sh", "-c", "exit 3"] },
};

const folder = folderOfFile();
const plain = { VERSION: "zero", SEEN: "/dev/null" };
let stage: ImageStage;
type Mode = ReturnType<typeof variablesOfCups>["CUPS"];

/** A world with the ReconcileFunction that `drover generate` writes. */
async function openWorld(options: Parameters<ImageStage["openWorld"]>[0] = {}, CUPS: Mode = "declares") {
  const { owns, watches } = reconcileFunctionOf(cupsController({ CUPS, ...plain })).spec;
  const spec = { delivery: undefined, webhook: undefined, owns, watches, copies: true };
  const world = await stage.openWorld({ ...options, spec });
  const module = ["--module", join(programs, "function.ts")];
  return {
    ...world,
    planHere: (...words: readonly string[]) => world.planWith([...words, ...module], { CUPS }),
  };
}

/** One run of the function, as it was deployed before. */
async function runBefore({ namespace }: World, name: string, CUPS: Mode = "declares"): Promise<void> {
  const controller = cupsController({ CUPS, ...plain });
  const outcome = await reconcileOnce(
    { controller, client: stage.admin, announce: () => undefined, log: silentLog },
    {
      key: objectKey({ namespace, name }),
      token: "run",
      claim: { fails: 0, reasons: [], class: "change", versions: {} },
      signal: new AbortController().signal,
      hasLease: () => true,
    },
  );
  expect(outcome).toMatchObject({ kind: "done" });
}

describe("drover plan --image of a function that pulls", { timeout: 180_000 }, () => {
  // A signature is valid for five minutes.
  beforeEach(() => vi.stubEnv("LOCAL_CLOCKS", undefined));
  beforeAll(async () => (stage = await startImageStage({ images, folder })), 900_000);
  afterAll(() => stage.stop());

  it("plans as its code does here, and leaves nothing behind", async () => {
    const world = await openWorld();
    const { namespace } = world;
    world.write({ tea: "hot" }, "deployed");
    await runBefore(world, "deployed");
    stage.kubectl(
      "patch",
      "configmap",
      "deployed",
      "-n",
      namespace,
      "--type=merge",
      "-p",
      '{"data":{"tea":"cold"}}',
    );
    world.write({ tea: "hot milk" }, "deleted");
    await runBefore(world, "deleted");
    stage.kubectl("delete", "cup", "deleted", "-n", namespace, "--wait=false");
    stage.kubectl("create", "configmap", "recipe-mint", "-n", namespace, "--from-literal=sugar=two");
    world.write({ tea: "mint" }, "mint");
    world.write({ tea: "hot chocolate" }, "new");
    const before = world.objects();
    const { code, stdout, stderr } = await world.planWith(["--all", "--image", "declares:1"]);
    expect(stdout).toContain(`
  + ConfigMap ${namespace}/a would be created
      + metadata.ownerReferences["Cup a"]: "controller"
      + data.tea: "green"
      + data.version: "one"
`);
    expect(stdout).toContain('      + data.sugar: "two"\n');
    expect(stdout).toContain(`
  ~ ConfigMap ${namespace}/deployed would be changed
      ~ data.tea: "cold" -> "hot"
      ~ data.version: "zero" -> "one"
  - ConfigMap ${namespace}/deployed-tray would be deleted
`);
    expect(stdout.split("\n").filter((line) => line.includes("drover.dev/cups"))).toHaveLength(1);
    expect(stderr).toMatch(/^The Pod \S+\/cups-plan-[0-9a-f]{8} starts with declares:1\.\n$/);
    expect(world.objects()).toEqual(before);
    expect({ code, stdout, stderr: "" }).toEqual(await world.planHere("--all"));
  });

  it("the process has no credentials, no address of Redis, and no connection but the API server's to its port", async () => {
    const world = await openWorld({ tea: "silent" });
    const uid = world.register();
    const running = world.start("declares:1");
    await world.called();
    const [pod] = world.pods();
    const { pid, env } = processOf(pod?.metadata.name ?? "");
    expect(
      Object.keys(env)
        .filter((name) => /DROVER|KUBE|REDIS|AWS/.test(name))
        .sort(),
    ).toEqual([
      ...[
        "DROVER_FUNCTION",
        "DROVER_HTTP_HOST",
        "DROVER_HTTP_PORT",
        "DROVER_PLAN_SECRETS",
        "DROVER_STOP_GRACE",
      ],
    ]);
    expect(env["DROVER_FUNCTION"]).toBe(`${world.namespace}/cups/${uid}`);
    expect(Object.values(env).filter((value) => /rediss?:/.test(value))).toEqual([]);
    const ports = connectionsOf(pid);
    expect(ports.length).toBeGreaterThan(0);
    expect(ports.filter((port) => port !== world.port)).toEqual([]);
    expect(pod?.spec).toMatchObject({ automountServiceAccountToken: false, serviceAccountName: "default" });
    expect(pod?.spec?.["volumes"]).toEqual([
      expect.objectContaining({ downwardAPI: expect.anything() as unknown }),
    ]);
    const [policy] = world.list("networkpolicies");
    expect(policy?.spec).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
    expect(policy?.spec).not.toHaveProperty("egress");
    running.kill("SIGINT");
    expect(await once(running, "close")).toEqual([130, null]);
    expect(world.objects().map(([kind]) => kind)).toEqual(["cups"]);
  });

  it.each([
    [
      "reconciles:1",
      /The controller cups in the image declares no children \(composeController\): it reads and writes/,
    ],
    ["otherName:1", /The ReconcileFunction has the name cups, and the controller in the image glasses/],
    [
      "older:1",
      /exit code 1\nIts output cannot be read\. Perhaps: The image has no runtime of Drover that answers plans/,
    ],
    ["stranger:1", /is not signed: [^]* The image has no runtime of Drover that answers plans/],
    ["liar:1", /The function's answer cannot be used: .* \[2Jdone/],
    ["fails:1", /does not start: Error: its container ended with exit code 3/],
  ])("explains why %s cannot be planned in a Pod", async (name, problem) => {
    const world = await openWorld();
    const before = world.objects();
    const { code, stderr, stdout } = await world.plan(name);
    expect(stderr).toMatch(problem);
    expect(stderr).not.toMatch(/\u001b|hunter2/);
    expect([code, stdout]).toEqual([1, ""]);
    expect(world.objects()).toEqual(before);
  });

  it.each([
    [
      "reads:1",
      "green",
      "This is a plan (drover plan --image): the function may not use its client of the API server.",
    ],
    ["declares:1", "nameless", "The function failed: no recipe [2J has a name"],
  ])("%s with %s tea fails in its plan", async (name, tea, problem) => {
    const world = await openWorld({ tea });
    const { code, stdout, stderr } = await world.plan(name);
    expect(stdout).toContain("The run would fail: ");
    expect(stdout).toContain(problem);
    expect(stdout + stderr).not.toContain("\u001b");
    expect(code).toBe(1);
  });

  it("sends an image that keeps what is in its Secrets the present ones, if the user agrees", async () => {
    const secretRules = { ...cupRules, resources: [...cupRules.resources, "secrets"] };
    const world = await openWorld({ rules: [secretRules, podRules, proxyRules] }, "keepsSecrets");
    await runBefore(world, "a", "keepsSecrets");
    const { stderr } = await world.plan("keepsSecrets:1");
    expect(stderr).toMatch(/sent to the image\. If you trust it, add --send-secrets/);
    const { stdout } = await world.plan("keepsSecrets:1", "--send-secrets");
    expect(stdout).not.toContain("Secret");
    expect(stdout).toBe((await world.planHere("cup/a")).stdout);
  });

  it("refuses a container that sets an address of Redis, which an older runtime would use", async () => {
    const world = await openWorld({ env: [{ name: "DROVER_REDIS_URL", value: "redis://10.0.0.1:6379" }] });
    expect((await world.plan("older:1")).stderr).toContain(
      "spec.container.env: DROVER_REDIS_URL is set by Drover",
    );
    expect(world.pods()).toEqual([]);
  });
});

/** The process in a Pod, as Linux shows it. */
function processOf(pod: string): { readonly pid: string; readonly env: Readonly<Record<string, string>> } {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = all
    .map((pid) => ({ pid, env: environmentOf(pid) }))
    .filter(({ env }) => env["HOSTNAME"] === pod);
  const [process] = found;
  if (process === undefined || found.length > 1) throw new Error(`${pod} has ${found.length} processes.`);
  return process;
}

function environmentOf(pid: string): Readonly<Record<string, string>> {
  try {
    const lines = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return Object.fromEntries(
      lines.map((line) => /^([^=]*)=(.*)$/s.exec(line)?.slice(1) ?? [line, ""]),
    ) as Record<string, string>;
  } catch {
    return {}; // It has ended.
  }
}

/** The local ports of the connections of a process that are established. */
function connectionsOf(pid: string): readonly number[] {
  const files = readdirSync(`/proc/${pid}/fd`).map((file) => readlinkSync(`/proc/${pid}/fd/${file}`));
  const own = new Set(files.flatMap((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []));
  return ["tcp", "tcp6"]
    .flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, "utf8").split("\n"))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode = ""]) => state === "01" && own.has(inode))
    .map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16));
}
