import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { linkModules } from "../../apps/cli/src/testing/link-modules.ts";
import { spawnDrover, runNpm } from "../../apps/cli/src/testing/run-command.ts";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { home, startDeployerInPods } from "./deployer-in-pods.ts";
import { eventually } from "./pod-cluster.ts";

const parent = folderOfFile();
const folder = join(parent, "greetings");
const cluster = await startDeployerInPods();
afterAll(() => cluster.stop());

const drover = async (...words: readonly string[]): Promise<string> => {
  const env = { KUBECONFIG: cluster.kubeconfigOutside, DROVER_REDIS_URL: cluster.redisUrl };
  const { code, stdout, stderr } = await spawnDrover(words, { cwd: folder, env });
  expect(code, stderr + stdout).toBe(0);
  return stdout;
};

const example = z.looseObject({ metadata: z.looseObject({ name: z.literal("hello") }) });
const greeting = z.object({
  metadata: z.object({ generation: z.number() }),
  status: z.object({ text: z.string(), observedGeneration: z.number() }),
});
const greetingNow = () => cluster.read(["greeting", "hello"], greeting);

it("from drover init to a changed object that the new function has reconciled", async () => {
  const took: string[] = [];
  const begun = performance.now();
  const step = async (what: string, done: Promise<unknown>): Promise<void> => {
    const from = performance.now();
    await done;
    took.push(`${what}: ${((performance.now() - from) / 1_000).toFixed(1)} s`);
  };

  await step("drover init", spawnDrover(["init", "greetings"], { cwd: parent }));
  await linkModules(folder);
  await step("npm test", runNpm(folder, "test"));
  await step("npm run build", runNpm(folder, "run", "build"));
  // What `docker build` and `docker push` are elsewhere.
  await step("image", cluster.push({ folder, as: "library/greetings:0.1.0" }));
  await step("drover deploy", drover("deploy", "-n", home, "--wait", "100s"));

  const hello = example.parse(parse(readFileSync(join(folder, "example.yaml"), "utf8")));
  await step(
    "the first object, and a Pod for it",
    cluster
      .applyAs(undefined, hello)
      .then(() => cluster.wait("condition=Ready", `--namespace=${home}`, "greeting/hello")),
  );
  expect(await greetingNow()).toMatchObject({ status: { text: "Hello, Ada!" } });
  await step(
    "the changed object",
    cluster.applyAs(undefined, { ...hello, spec: { name: "Grace" } }).then(() =>
      eventually(async () => {
        const { metadata, status } = await greetingNow();
        expect(status).toEqual({ text: "Hello, Grace!", observedGeneration: metadata.generation });
      }),
    ),
  );
  took.push(`in all: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  console.log(took.join("\n"));

  expect(await drover("status", "-n", home)).toMatch(/apps +greetings\.example\.com +True +Running/);
  expect(await drover("why", "greeting/hello", "-n", home)).toMatch(/^Greeting apps\/hello is reconciled/);
}, 600_000);
