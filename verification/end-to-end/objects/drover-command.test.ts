import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type Manifest, withMetadata } from "../../harness/manifests.ts";
import { linkModules } from "../../../apps/cli/src/testing/link-modules.ts";
import { folderOfFile } from "../../../packages/testing/src/folder.fixture.ts";
import { type CommandResult, spawnDrover, runNpm } from "../../../apps/cli/src/testing/run-command.ts";
import { deployedWorldOfFile } from "../stage/deployed-world.ts";
import { eventually } from "../stage/world.ts";

const isReal = process.env["DROVER_TEST_CLUSTER"] === "real";
const authorPolicies = (): readonly Manifest[] => {
  const file = new URL("../../../apps/deployer/deploy/authors.yaml", import.meta.url);
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest);
};

const parent = folderOfFile();
const folder = join(parent, "greetings");
// The bundle, where the Dockerfile puts it.
const command = [process.execPath, join(folder, "dist/main.mjs")];
const world = await deployedWorldOfFile(
  [],
  { "greetings:0.1.0": { command } },
  isReal ? { DROVER_AUTHORS: "checked" } : {},
);
// The sandbox has neither admission policies nor reviews.
if (isReal) await installPolicies();

async function installPolicies(): Promise<void> {
  for (const policy of authorPolicies()) await eventually(() => world.cluster.apply(policy));
  // Without an epoch, which the deployer makes, no function can be written.
  const epoch = "/apis/drover.dev/v1alpha1/authorepochs/authors";
  await eventually(async () =>
    expect(await world.cluster.read(epoch)).toMatchObject({ kind: "AuthorEpoch" }),
  );
}

/** The environment of a shell with the addresses of cluster and Redis. */
const drover = (...words: string[]): Promise<CommandResult> =>
  spawnDrover(words, {
    cwd: folder,
    env: { KUBECONFIG: world.cluster.kubeconfig, DROVER_REDIS_URL: world.redis.url },
  });

const example = (): Manifest =>
  withMetadata(parse(readFileSync(join(folder, "example.yaml"), "utf8")) as Manifest, {
    namespace: "default",
  });

it(
  "from drover init to an object that a Pod has reconciled, and why it rests",
  { timeout: 240_000 },
  async () => {
    expect((await spawnDrover(["init", "greetings"], { cwd: parent })).code).toBe(0);
    await linkModules(folder);
    expect(await drover("generate", "--check")).toMatchObject({ code: 0 });
    await runNpm(folder, "run", "build");

    const deployed = await drover("deploy", "--wait", "100s");
    expect(deployed.stdout).toMatch(/CRD greetings\.example\.com: created, and served\n/);
    expect(deployed.stdout).toMatch(/ReconcileFunction default\/greetings\.example\.com: created\n/);
    expect(deployed.stdout).toMatch(/greetings\.example\.com is Ready: Running: 1 of 1 Pods are Ready/);
    expect(deployed.code).toBe(0);
    expect((await drover("why", "greeting/hello")).stdout).toMatch(/^Greeting default\/hello does not exist/);

    const greeted = await world.applyReady(example());
    expect(greeted?.status).toMatchObject({ text: "Hello, Ada!" });

    const { stdout: table, stderr: source } = await drover("status");
    expect(source).toBe("Live counts from Redis.\n");
    const [headings, row] = table.split("\n").map((line) => line.split(/ {3,}/));
    expect(headings?.slice(0, 4)).toEqual(["NAMESPACE", "NAME", "READY", "REASON"]);
    expect(row?.slice(0, 3)).toEqual(["default", "greetings.example.com", "True"]);
    const { stdout: json } = await drover("status", "greetings.example.com", "-A", "-o", "json");
    expect(JSON.parse(json)).toMatchObject({
      figures: "redis",
      functions: [{ name: "greetings.example.com", due: 0, running: 0, waiting: 1, failing: 0, parked: 0 }],
    });

    const { stdout: why } = await drover("why", "greetings.example.com", "default/hello");
    expect(why).toMatch(
      /^Greeting default\/hello is reconciled, and runs again in \d+(ms|s|m|h): for its resync/,
    );
    expect(why).toMatch(/ {2}Ready +True, Reconciled: /);
    expect(why).toMatch(/ago +\w+ +done +Added/);
    const { stdout: whyJson } = await drover("why", "Greeting/hello", "-o", "json");
    expect(JSON.parse(whyJson)).toMatchObject({
      kind: "Greeting",
      key: "default/hello",
      queue: { state: "waits", why: "again", fails: 0 },
      runs: [{ verdict: "done" }],
      object: { ready: { status: "True" } },
    });

    expect((await drover("deploy")).stdout).toMatch(/: unchanged, and served\n.*: unchanged\n.* is Ready/);
  },
);

it("an image that does not exist fails the deployment at once, and what runs goes on", async () => {
  const file = join(folder, "src/function.ts");
  const before = readFileSync(file, "utf8");
  writeFileSync(file, before.replace("greetings:0.1.0", "nowhere:1"));
  await drover("generate");
  const { code, stderr } = await drover("deploy", "--wait", "100s");
  expect(stderr).toMatch(
    /greetings\.example\.com is not (Ready|rolled out): ImageNotPulled: ImagePullBackOff: .*nowhere:1/,
  );
  expect(code).toBe(1);
  const { stdout } = await drover("status", "greetings.example.com", "-o", "json");
  expect(JSON.parse(stdout)).toMatchObject({
    functions: [{ rolledOut: { status: "False", reason: "ImageNotPulled" }, functionPaused: false }],
  });
  writeFileSync(file, before);
  await drover("generate");
  expect(await drover("deploy", "--wait", "100s")).toMatchObject({ code: 0 });
}, 240_000);

it("`drover wait` fails at once for an object that can never be Ready; without Redis, figures come from the status", async () => {
  const file = join(folder, "src/function.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("scaling", 'webhook: { path: "/" },\n    scaling'));
  await drover("generate");
  const { code, stderr } = await drover("deploy", "--wait", "100s");
  expect(stderr).toMatch(/is not Ready: InvalidSpec: spec\.webhook goes with delivery: webhook/);
  expect(code).toBe(1);
  await eventually(async () => {
    const { stdout, stderr: source } = await spawnDrover(
      ["status", "--kubeconfig", world.cluster.kubeconfig],
      {
        cwd: folder,
      },
    );
    expect(stdout).toMatch(/greetings\.example\.com +False +InvalidSpec/);
    expect(source).toMatch(/deployer wrote them last. For live counts give --redis/);
  });
}, 120_000);
