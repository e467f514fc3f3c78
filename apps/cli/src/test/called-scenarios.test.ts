import { customResourceDefinition } from "@drover/controller";
import { testFaults } from "@drover/testing";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { stringify } from "yaml";
import { answering, secret, startTestFunction } from "../../../../packages/calls/src/calling.fixture.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { configMaps, Cup, cups as kind } from "../testing/cups.fixture.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { spawnDrover } from "../testing/run-command.ts";
import { plainEnvironment } from "../testing/config.ts";
import { runFunctionProcess } from "../called/function-process.ts";
import { type CalledOptions, openCalledScenarios } from "./called-scenarios.ts";

const child = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { tea: "green" } };
const cup = { apiVersion: "example.com/v1", kind: "Cup", metadata: { name: "a" }, spec: { tea: "green" } };
const scenario = { name: "a cup comes", steps: [{ apply: cup }] };

/** The folder of a function that declares children. */
function functionFolder(written: object = scenario, more: object = {}): string {
  const folder = folderOfTest();
  mkdirSync(join(folder, "deploy"));
  const manifest = {
    apiVersion: "drover.dev/v1alpha1",
    kind: "ReconcileFunction",
    metadata: { name: "cups", namespace: "tea" },
    spec: { for: kind, owns: [configMaps], delivery: "webhook", webhook: { composes: true }, ...more },
  };
  writeFileSync(join(folder, "deploy/function.yaml"), stringify(manifest));
  writeFileSync(join(folder, "deploy/crd.yaml"), stringify(customResourceDefinition(Cup)));
  writeFileSync(join(folder, "cups.faults.yaml"), stringify(written));
  writeFileSync(join(folder, "secret"), secret);
  return folder;
}

const atUrl = (folder: string, port: number, ...words: readonly string[]) =>
  spawnDrover(["test", "--url", `http://127.0.0.1:${port}/`, ...words], { cwd: folder });

it("each fault of a call is what the function's own server sees of it", async () => {
  const fn = await startTestFunction();
  onTestFinished(() => fn.close());
  fn.answer = answering({ outcome: "composed", children: [child], status: { filled: true } });
  const folder = functionFolder();
  const url = `http://127.0.0.1:${fn.port}/`;
  const { scenarios } = await openCalledScenarios(folder, ["cups.faults.yaml"], {
    dir: "deploy",
    url,
    secretFile: join(folder, "secret"),
  });
  const [opened] = scenarios;
  if (opened === undefined) throw new Error("There is no scenario.");
  const seen: Record<string, readonly string[]> = {};
  const { plans, problems } = await testFaults(opened, {
    only: "write 1 (POST /)",
    onPlan({ description }) {
      const received = fn.calls.splice(0).map(({ incoming }) => incoming.headers["webhook-id"]);
      seen[description] = received.map((id) => `call ${received.indexOf(id) + 1}`);
    },
  });
  expect(problems).toEqual([]);
  expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
  const { "crash before write 1 (POST /)": first, ...later } = seen;
  // Those of the runs without faults come first.
  expect(first?.slice(-2)).toEqual(["call 5", "call 6"]);
  const twice = ["call 1", "call 2"];
  const again = [...twice, "call 3"];
  expect(later).toEqual({
    "crash after write 1 (POST /)": again,
    "lost answer of write 1 (POST /)": again,
    "no answer of write 1 (POST /) until the timeout": again,
    "write 1 (POST /) sent twice": ["call 1", "call 1", "call 3"],
    "503 for write 1 (POST /)": twice,
  });
  // A call is no change of anything, however often it is made.
  const { plans: others } = await testFaults(opened, { kinds: ["reconciled again", "foreign object"] });
  expect(others.map(({ outcome }) => outcome)).toEqual(["same", "same", "same"]);
});

it("the function is called for what its ReconcileFunction watches, and only in its namespaces", async () => {
  const fn = await startTestFunction();
  onTestFinished(() => fn.close());
  fn.answer = answering({ outcome: "composed", children: [] });
  const secrets = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
  const elsewhere = { ...cup, metadata: { name: "a", namespace: "kube-public" } };
  const secretOf = { apiVersion: "v1", kind: "Secret", metadata: { name: "green" } };
  const folder = functionFolder(
    { name: "a secret comes", steps: [{ apply: [cup, elsewhere] }, { apply: secretOf }] },
    {
      for: { ...kind, namespaces: ["default"] },
      watches: [{ ...secrets, names: { referencedBy: "spec.tea" } }],
    },
  );
  const opened = await openCalledScenarios(folder, ["cups.faults.yaml"], {
    dir: "deploy",
    url: `http://127.0.0.1:${fn.port}/`,
    secretFile: join(folder, "secret"),
  });
  for (const one of opened.scenarios) await testFaults(one, { faults: false });
  const called = fn.calls.slice(-2).map(({ call }) => [call.key, ...call.reasons]);
  expect(called).toEqual([
    ["default/a", "Added"],
    ["default/a", "Added Secret default/green"],
  ]);
});

it("a run without an answer is stopped by its timeout, and the report has the steps to a difference", async () => {
  const fn = await startTestFunction();
  onTestFinished(() => fn.close());
  const asked = new Set<string>();
  fn.answer = (call, response) => {
    const data = call.children?.[0]?.["data"] ?? { tea: asked.has(call.uid) ? "black" : "green" };
    asked.add(call.uid);
    answering({ outcome: "composed", children: [{ ...child, data }] })(call, response);
  };
  const words = ["--secret-file", "secret", "--plan", "no answer of write 1"];
  const { stdout, code } = await atUrl(functionFolder(), fn.port, ...words);
  expect(code).toBe(1);
  expect(stdout.split("\n    => ")[0]).toMatchInlineSnapshot(`
    "a cup comes: 4 writes without faults
      ✗ no answer of write 1 (POST /) until the timeout
          a user applies Cup a
            run 1 of default/a, for Added:
              POST /   <-- never answered
              update cups.example.com/status default/a
              fails: The run took longer than its timeout and was stopped.
            run 2 of default/a:
              POST /
              patch configmaps default/a
              update cups.example.com/status default/a
            run 3 of default/a, for Added ConfigMap default/a:
              POST /"
  `);
  expect(stdout).toContain('=> configmaps default/a: data.tea is "black", and without the fault "green"');
});

it("a function may run on between two tests, although they have the same objects", async () => {
  const fn = await startTestFunction();
  onTestFinished(() => fn.close());
  let newest = 0;
  const tokens = new Set<string>();
  fn.answer = (call, response) => {
    const version = Number(call.object.metadata.resourceVersion);
    const isOlder = version < newest || tokens.has(call.token);
    newest = Math.max(newest, version);
    tokens.add(call.token);
    answering(isOlder ? { outcome: "conflict" } : { outcome: "composed", children: [child] })(call, response);
  };
  const folder = functionFolder();
  for (let i = 0; i < 2; i++) {
    const { stdout, code } = await atUrl(folder, fn.port, "--secret-file", "secret", "--plan", "crash after");
    expect(stdout).toContain("4 executed, 4 with the same final state");
    expect(code).toBe(0);
  }
});

/** A function that writes its process and the settings that it got, before each answer. */
const noting = `
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { receiveCall, readSignatureHeaders, signMessage } from ${JSON.stringify(repositoryPath("packages/webhook/src/index.ts"))};
const { env } = process;
const secrets = [readFileSync(env.DROVER_WEBHOOK_SECRETS + "/current", "utf8")];
const audience = { name: env.DROVER_WEBHOOK_AUDIENCE, uid: env.DROVER_WEBHOOK_UID };
createServer(async (request, response) => {
  const headers = readSignatureHeaders((name) => request.headers[name]);
  const { call } = receiveCall({ headers, body: await buffer(request), secrets, audience, now: Date.now() });
  appendFileSync("calls", process.pid + " " + audience.name + "\\n");
  const answer = JSON.stringify({ outcome: "composed", children: [${JSON.stringify(child)}] });
  response.writeHead(200, signMessage(secrets, { id: call.token, at: Date.now() }, answer)).end(answer);
}).listen(Number(env.DROVER_HTTP_PORT), env.DROVER_HTTP_HOST);
`;

const run = `${process.execPath} fn.mjs`;

/** A process that has ended may be there until its parent reads its exit code. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return (
      error instanceof Error && "code" in error && error.code === "ENOENT" && process.platform !== "linux"
    );
  }
};

it("--run starts a process for each test and after each crash, and none is left", async () => {
  const folder = functionFolder();
  writeFileSync(join(folder, "fn.mjs"), noting);
  const words = ["test", "--run", run, "--plan", "crash after write 2"];
  const { stdout, stderr, code } = await spawnDrover(words, { cwd: folder });
  expect(stderr).toBe("");
  expect(stdout).toContain("1 executed, 1 with the same final state");
  expect(code).toBe(0);
  const lines = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
  expect(new Set(lines.map((line) => line.split(" ")[1]))).toEqual(new Set(["tea/cups"]));
  const pids = lines.map((line) => Number(line.split(" ")[0]));
  // Two calls in each run without faults; then one before the crash, and one after it.
  const [a, b, c, d] = [...new Set(pids)];
  expect(pids).toEqual([a, a, b, b, c, d]);
  expect(d).toBeDefined();
  expect(pids.filter(isAlive)).toEqual([]);
});

it.each([
  ["Ctrl-C", "SIGINT", 130],
  ["the end of the terminal", "SIGHUP", 129],
] as const)("%s ends the function, too", async (_, signal, code) => {
  const folder = functionFolder();
  writeFileSync(join(folder, "fn.mjs"), noting);
  const words = [repositoryPath("apps/cli/src/main.ts"), "test", "--faults", "--run", `${run}; exit 1`];
  const drover = spawn(process.execPath, words, { cwd: folder, env: plainEnvironment() });
  const ended = once(drover, "exit");
  const calls = () => readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
  await vi.waitFor(() => expect(calls().length).toBeGreaterThan(6), { timeout: 30_000 });
  drover.kill(signal);
  expect(await ended).toEqual([code, null]);
  const pids = calls().map((line) => Number(line.split(" ")[0]));
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]));
});

it("what a command leaves in the background when it ends is ended, too", async () => {
  const pidFile = join(folderOfTest(), "pid");
  const ended = `sleep 600 & echo $! > ${pidFile}; exit 3`;
  const process = await runFunctionProcess(ended, { audience: "tea/cups", uid: "test" });
  onTestFinished(() => process.close());
  await expect(process.next()).rejects.toThrow("ended with code 3");
  await vi.waitFor(() => expect(isAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false));
});

it("names what is wrong", async () => {
  const folder = functionFolder();
  const secretFile = join(folder, "secret");
  const nowhere = { url: "http://127.0.0.1:1/", secretFile };
  const refused = (problem: string | RegExp, options: Partial<CalledOptions>) =>
    expect(openCalledScenarios(folder, ["cups.faults.yaml"], { dir: "deploy", ...options })).rejects.toThrow(
      problem,
    );
  await refused(
    "cups.faults.yaml is for a function that is called. Give the command that runs it, such as --run",
    {},
  );
  await refused("is for a function that is called", { run: "true", url: "http://127.0.0.1/" });
  await refused("--secret-file secrets/current", { url: nowhere.url });
  await refused("--url absent is no http or https URL", { url: "absent", secretFile });
  await refused("There is no folder", { run: "true", dir: "absent" });
  const write = (...steps: readonly object[]): void =>
    writeFileSync(join(folder, "cups.faults.yaml"), stringify({ ...scenario, steps }));
  const run = async (options: Partial<CalledOptions>) => {
    const opened = await openCalledScenarios(folder, ["cups.faults.yaml"], { dir: "deploy", ...options });
    onTestFinished(() => opened.close());
    return Promise.all(opened.scenarios.map((one) => testFaults(one)));
  };
  expect((await run(nowhere))[0]?.problems[0]).toContain("default/a fails: The function at 127.0.0.1");
  await expect(run({ run: "echo over; exit 3" })).rejects.toThrow(
    "The function (echo over; exit 3) ended with code 3. Its last output:\nover",
  );
  write({ apply: { ...cup, spec: {} } });
  await expect(run(nowhere)).rejects.toThrow(/cups\.faults\.yaml:4: .*spec\.tea: Required value/);
  write({ change: "configmap/x", to: { data: {} } });
  await expect(run(nowhere)).rejects.toThrow(
    "cups.faults.yaml:3: there is no ConfigMap x to change at this step",
  );
  writeFileSync(join(folder, "deploy/crd.yaml"), "");
  await refused("deploy has no CustomResourceDefinition cups.example.com", { run: "true" });
});
