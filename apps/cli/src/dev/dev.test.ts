import { isRunning, redisRequest, startRedis } from "@drover/local-servers";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it, onTestFailed, onTestFinished } from "vitest";
import { folderOfFile, folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { isThere } from "../../../../packages/webhook/conformance/languages.ts";
import { linkModules } from "../testing/link-modules.ts";
import {
  type DevProcess,
  listenersOf,
  startDevProcess,
  waitUntilGone,
} from "../testing/dev-process.fixture.ts";
import { spawnDrover } from "../testing/run-command.ts";

/** Has functions as `drover init` makes them, and the published package. */
const made = folderOfFile();
let folder: string;
let temporary: string;

beforeAll(async () => {
  for (const language of ["typescript", "python", "go"])
    await spawnDrover(["init", `a-${language}`, "--kind", "Greeting", "--language", language], { cwd: made });
  await linkModules(made);
});
beforeEach(() => {
  const cwd = folderOfTest();
  folder = join(cwd, "function");
  temporary = join(cwd, "tmp");
  mkdirSync(temporary);
});

/** A new function, with the modules beside it. */
function make(language: "typescript" | "python" | "go"): void {
  cpSync(join(made, `a-${language}`), folder, { recursive: true });
  cpSync(join(made, "node_modules"), join(folder, "node_modules"), {
    recursive: true,
    verbatimSymlinks: true,
  });
}

/** With the command of the published package. */
async function dev(
  words: readonly string[] = [],
  {
    hasRedis = true,
    cwd = folder,
    env = {},
  }: { hasRedis?: boolean; cwd?: string; env?: Record<string, string> } = {},
): Promise<DevProcess> {
  const command = join(made, "node_modules/drover/lib/command.js");
  const started = await startDevProcess(words, { cwd, command, hasRedis, temporary, env });
  onTestFailed(() => console.log(started.output()));
  onTestFinished(() => {
    if (isRunning(started.pid)) started.kill("SIGKILL");
  });
  return started;
}

const edit = (file: string, from: string | RegExp, to: string): void => {
  const path = join(folder, file);
  const [before, after] = [readFileSync(path, "utf8"), readFileSync(path, "utf8").replace(from, to)];
  expect(after).not.toBe(before);
  writeFileSync(path, after);
};

const hello = "/apis/example.com/v1alpha1/namespaces/default/greetings/hello";
const controller = "src/controller.ts";
/** The first run of the process that is started for a change: the one before may still end a run. */
const reran = (file: string, outcome = "done") =>
  new RegExp(`Changed: .*${file}[^]*?runs: process[^]*?run {4}default/hello ${outcome}.*`);
const ran = (outcome: string) => new RegExp(`run {4}default/hello ${outcome}.*`);

/** Ends it as Ctrl-C does: it must leave nothing. */
async function interrupt(one: DevProcess, code = 0): Promise<void> {
  const all = one.descendants();
  expect(all.length).toBeGreaterThan(1);
  one.kill("SIGINT");
  expect(await one.ended).toBe(code);
  await waitUntilGone(all);
  expect(readdirSync(temporary)).toEqual([]);
}

describe("drover dev in a new function", { timeout: 240_000 }, () => {
  it("runs it for its example, and again after each change: of code, kind and example", async () => {
    make("typescript");
    const one = await dev();
    await one.next(/example\.yaml: Greeting hello created/);
    expect((await one.next(ran("done")))[0]).toMatch(
      /done in \d+m?s; because: Added; wrote greetings\.example\.com default\/hello; next run in \d+[mh]$/,
    );
    expect(await one.ask(hello)).toMatchObject({ spec: { name: "Ada" }, status: { text: "Hello, Ada!" } });
    expect(one.output()).toMatch(/info {3}Greeted key=default\/hello\n/);

    edit(controller, "Hello,", "Ahoy,");
    await one.next(reran(controller));
    expect(await one.ask(hello)).toMatchObject({ status: { text: "Ahoy, Ada!" } });

    edit("example.yaml", "Ada", "Bob");
    await one.next(/example\.yaml: Greeting hello changed/);
    await one.next(/run .*because: Modified;/);
    expect(await one.ask(hello)).toMatchObject({ status: { text: "Ahoy, Bob!" } });

    edit("src/greeting.ts", "loudly:", 'title: z.string().default("Dr."),\n    loudly:');
    await one.next(reran("src/greeting.ts"));
    expect(await one.ask(hello)).toMatchObject({ spec: { title: "Dr." } });
    // Generated files are the author's to write.
    expect(readFileSync(join(folder, "deploy/crd.yaml"), "utf8")).not.toContain("title");
    await interrupt(one);
  });

  it("listens on loopback only, and serves kubectl and drover in another terminal", async () => {
    make("typescript");
    const one = await dev();
    await one.next(ran("done"));
    const listeners = [one.pid, ...one.descendants()].flatMap(listenersOf);
    expect(listeners.length).toBeGreaterThanOrEqual(3);
    for (const address of listeners) expect(address).toMatch(/^0100007F:/);
    expect(statSync(one.kubeconfig()).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(one.kubeconfig())).mode & 0o777).toBe(0o700);
    const [, KUBECONFIG = "", DROVER_REDIS_URL = ""] =
      /export KUBECONFIG=(\S+) DROVER_REDIS_URL=(\S+)/.exec(one.output()) ?? [];
    const why = await spawnDrover(["why", "greeting/hello"], {
      cwd: folder,
      env: { KUBECONFIG, DROVER_REDIS_URL },
    });
    expect(why.stdout).toContain("Greeting default/hello is reconciled");
    if (isThere("kubectl"))
      expect(
        execFileSync("kubectl", ["get", "greetings"], { env: { ...process.env, KUBECONFIG } }).toString(),
      ).toMatch(/hello +.*Hello, Ada!/);
    await interrupt(one);
  });

  it("shows errors with their stack, and goes on after code that does not build or ends by itself", async () => {
    make("typescript");
    const one = await dev();
    await one.next(ran("done"));
    edit(controller, "const text", 'if (spec.name === "Ada") throw new Error("not today");\n    const text');
    expect((await one.next(reran(controller, "failed")))[0]).toMatch(
      /: not today; because: Forced; .*; next attempt in \d+m?s$/,
    );
    await one.next(/^ +Error: not today\n +at .*controller\.ts:\d+/m);

    edit(controller, "const text", "const const text");
    await one.next(/The function does not build\.[^]*controller\.ts[^]*started again at the next change/);
    edit(controller, "const const text", "const text");
    await one.next(/The function runs: process \d+/);

    edit(controller, 'throw new Error("not today")', "process.exit(7)");
    await one.next(/The function ended by itself \(exit code 7\)/);
    edit(controller, "process.exit(7)", "log.info({}, 'well')");
    await one.next(/info {3}well/);
    expect((await one.next(ran("done")))[0]).not.toContain("not today");
    await interrupt(one);
  });

  it("applies what it can of the examples, and deletes none", async () => {
    make("typescript");
    const one = await dev();
    await one.next(ran("done"));
    const written = readFileSync(join(folder, "example.yaml"), "utf8");
    const second = written.replace("hello", "second").replace("Ada", "Eve");
    writeFileSync(join(folder, "example.yaml"), `${written.replace("Ada", '""')}---\n${second}`);
    await one.next(/example\.yaml: Greeting hello is refused\..*spec\.name/);
    await one.next(/example\.yaml: Greeting second created/);
    await one.next(/run {4}default\/second done/);
    writeFileSync(join(folder, "example.yaml"), written);
    const [, removal = ""] = await one.next(
      /Greeting second is no longer in example\.yaml, and stays\. .*: (kubectl .*)/,
    );
    expect(one.output()).not.toContain("Greeting hello is no longer");
    expect(removal).toBe("kubectl delete -n default greetings.example.com second");
    expect(await one.ask(hello.replace("hello", "second"))).toMatchObject({ spec: { name: "Eve" } });
    writeFileSync(join(folder, "example.yaml"), "kind: [");
    await one.next(/example\.yaml:1: this is not YAML/);
    mkdirSync(join(folder, "examples"));
    writeFileSync(join(folder, "examples/third.yaml"), second.replace("second", "third"));
    await one.next(/examples\/third\.yaml: Greeting third created/);

    // A refused object is tried again when the code, and with it the kind, has changed.
    writeFileSync(join(folder, "example.yaml"), written.replace("name: Ada", "name: Ada\n  title: Dr."));
    await one.next(/example\.yaml: Greeting hello is refused\..*title/);
    edit("src/greeting.ts", "loudly:", "title: z.string().optional(),\n    loudly:");
    await one.next(/example\.yaml: Greeting hello changed/);
    expect(await one.ask(hello)).toMatchObject({ spec: { title: "Dr." } });
    await interrupt(one);
  });

  it("sees a folder that is replaced, and a file of an editor that writes a new one", async () => {
    make("typescript");
    const one = await dev();
    await one.next(ran("done"));
    cpSync(join(folder, "src"), join(folder, "new"), { recursive: true });
    await one.next(/Changed: new\/config\.ts.*[^]*runs: process/);
    rmSync(join(folder, "src"), { recursive: true });
    renameSync(join(folder, "new"), join(folder, "src"));
    await one.next(/Changed: new\/.*[^]*runs: process/);
    const path = join(folder, controller);
    writeFileSync(`${path}.tmp`, readFileSync(path, "utf8").replace("Hello,", "Moin,"));
    renameSync(`${path}.tmp`, path);
    await one.next(reran(controller));
    expect(await one.ask(hello)).toMatchObject({ status: { text: "Moin, Ada!" } });
    await interrupt(one);
  });

  it("slows down when the function writes a file itself, and misses no change", async () => {
    make("typescript");
    edit(controller, "import", 'import { writeFileSync } from "node:fs";\nimport');
    edit(controller, "const text", 'writeFileSync("seen.json", String(Math.random()));\n    const text');
    const one = await dev();
    await one.next(/seen\.json changes again and again soon after a start/);
    edit(controller, "Hello,", "Ahoy,");
    await one.next(reran(controller));
    expect(await one.ask(hello)).toMatchObject({ status: { text: "Ahoy, Ada!" } });
    expect(one.output().match(/Changed: .*seen\.json/g)?.length).toBeLessThanOrEqual(7);
    await interrupt(one);
  });
});

describe("the end of drover dev", { timeout: 240_000 }, () => {
  /** Neither SIGTERM nor the end of its run ends it. */
  const stubborn = (): void => {
    make("typescript");
    edit(
      controller,
      "const text",
      'process.on("SIGTERM", () => undefined);\n    await new Promise(() => setInterval(() => undefined, 1000));\n    const text',
    );
    edit(controller, "log.info", 'log.info({}, "never");\n    log.info');
    edit(controller, "await new Promise", 'log.info({}, "stuck");\n    await new Promise');
  };

  it("comes at once with a second Ctrl-C", async () => {
    stubborn();
    const one = await dev();
    await one.next(/info {3}stuck/);
    const all = one.descendants();
    one.kill("SIGINT");
    await one.next(/Ctrl-C again ends everything at once/);
    one.kill("SIGINT");
    expect(await one.ended).toBe(130);
    await waitUntilGone(all);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("leaves no process after SIGKILL, and nothing that prevents the next start at the same port", async () => {
    make("typescript");
    const first = await dev();
    await first.next(ran("done"));
    const [, port = ""] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(first.output()) ?? [];
    const all = first.descendants();
    first.kill("SIGKILL");
    await first.ended;
    await waitUntilGone(all);
    rmSync(temporary, { recursive: true });
    mkdirSync(temporary);
    const second = await dev(["--port", port]);
    await second.next(ran("done"));
    expect(second.output()).toContain(`http://127.0.0.1:${port}`);
    await interrupt(second);
  });

  it.each<[string, (one: DevProcess) => void]>([
    ["Ctrl-C while it starts", (one) => one.kill("SIGINT")],
    ["a closed output", (one) => one.closeOutput()],
  ])("leaves nothing after %s", async (what, end) => {
    make("typescript");
    const one = await dev();
    if (what.startsWith("a closed")) await one.next(ran("done"));
    else await expect.poll(() => one.descendants().length).toBeGreaterThan(0);
    const all = one.descendants();
    end(one);
    if (what.startsWith("a closed")) edit(controller, "Hello,", "Ahoy,");
    expect(await one.ended).toBe(0);
    await waitUntilGone(all);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("comes with an error when its Redis ends", async () => {
    make("typescript");
    const one = await dev();
    await one.next(ran("done"));
    const all = one.descendants();
    const redis = all.find((pid) =>
      /valkey-server|redis-server/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8")),
    );
    process.kill(redis ?? 0, "SIGKILL");
    expect(await one.ended).toBe(1);
    expect(one.output()).toContain("error: Redis ended by itself");
    await waitUntilGone(all);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("leaves nothing in a given Redis, and does not touch what others have there", async () => {
    make("typescript");
    await using servers = new AsyncDisposableStack();
    const redis = servers.adopt(await startRedis({ persistence: false }), (it) => it.stop());
    await redisRequest(redis.port, ["SET", "{drover:-/others/-}:key:a", "kept"]);
    renameSync(join(folder, "example.yaml"), join(folder, "../other.yaml"));
    const given = ["--redis", redis.url, "--example", "../other.yaml", "--run", "node src/main.ts"];
    const one = await dev(given, { hasRedis: false });
    await one.next(/\.\.\/other\.yaml: Greeting hello created/);
    await one.next(ran("done"));
    expect(await redisRequest(redis.port, ["EXISTS", "{drover-bridges}"])).toBe("0");
    await interrupt(one);
    const names = 'return table.concat(redis.call("KEYS", "*"), " ")';
    expect(await redisRequest(redis.port, ["EVAL", names, "0"])).toBe("{drover:-/others/-}:key:a");
    expect(await redisRequest(redis.port, ["GET", "{drover:-/others/-}:key:a"])).toBe("kept");
  });
});

describe("drover dev refuses, with what to do,", { timeout: 120_000 }, () => {
  const refused = async (words: readonly string[], problem: RegExp, options = {}): Promise<void> => {
    const one = await dev(words, options);
    expect(await one.ended).toBe(1);
    expect(one.output()).toMatch(problem);
    expect(readdirSync(temporary)).toEqual([]);
  };
  it("a folder without a function", () =>
    refused([], /^error: .* is not the folder of a function.*drover init/, { cwd: folderOfTest() }));
  it("a port that is taken", async () => {
    make("typescript");
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    await refused(["--port", String(port)], /^error: Port \d+ of 127\.0\.0\.1 is taken\. Choose another one/);
    server.close();
  });
  it("a port that is none", () => refused(["--port", "80000"], /0 to 65535/, { cwd: made }));
  it("a machine without a Redis", async () => {
    make("typescript");
    await refused([], /^error: There is no Redis to start: .*--redis redis:\/\//, { hasRedis: false });
  });
  it("a Redis that does not answer, without its password", async () => {
    make("typescript");
    const one = await dev(["--redis", "redis://me:secret@127.0.0.1:1"]);
    expect(await one.ended).toBe(1);
    expect(one.output()).toMatch(/^error: .*127\.0\.0\.1:1/m);
    expect(one.output()).not.toContain("secret");
  });
  it("code that does not build", async () => {
    make("typescript");
    edit("src/function.ts", "defineFunction({", "defineFunction({{");
    await refused([], /error: The function does not build\.\n[^]*function\.ts/);
  });
  it("a function that ends before it is ready", async () => {
    make("typescript");
    edit("src/main.ts", "await runFunction", 'console.log("no key");\nprocess.exit(3);\nawait runFunction');
    await refused(
      [],
      /out {4}no key\n[^]*error: The function \(node src\/main\.ts\) ended before it was ready \(exit code 3\)/,
    );
  });
  it("a CRD that is not valid", async () => {
    make("python");
    edit("deploy/crd.yaml", "type: integer", "type: whole");
    await refused([], /error: The API server refuses the CRD greetings\.example\.com: .*whole/);
  });
  it("a called function without a command", async () => {
    make("python");
    renameSync(join(folder, "function.py"), join(folder, "main.py"));
    await refused([], /error: Give the command that runs the function/);
  });
  it("an example that does not exist", async () => {
    make("typescript");
    await refused(["--example", "no.yaml"], /error: --example no\.yaml: there is no such file/);
  });
});

const configMap = "/api/v1/namespaces/default/configmaps/hello";
it.each([
  [
    "python",
    "python3",
    "function.py",
    '"index.html": spec',
    '"page.html": spec',
    "def compose",
    "def compos",
  ],
  ["go", "go", "function.go", '"index.html": ', '"page.html": ', "func compose", "func compos"],
] as const)(
  "drover dev calls a function in %s, and starts it again",
  { timeout: 240_000 },
  async (language, program, file, from, to, right, wrong) => {
    if (!isThere(program)) return;
    make(language);
    const secret = "/home/ada/secret";
    const one = await dev([], {
      env: {
        KUBECONFIG: secret,
        DROVER_REDIS_URL: `redis://:${secret}@127.0.0.1:1`,
        DROVER_REDIS_CA_FILE: secret,
      },
    });
    expect((await one.next(ran("done")))[0]).toContain(
      "wrote configmaps default/hello, deployments.apps default/hello",
    );
    const environments = one.descendants().map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8"));
    const ofFunction = environments.filter((text) => text.includes("DROVER_WEBHOOK_AUDIENCE="));
    expect(ofFunction).not.toEqual([]);
    for (const text of ofFunction) expect(text).not.toContain(secret);
    expect(await one.ask(configMap)).toHaveProperty(["data", "index.html"]);
    edit(file, from, to);
    await one.next(new RegExp(`Changed: ${file}`));
    await one.next(/run {4}.*wrote configmaps default\/hello/);
    expect(await one.ask(configMap)).toHaveProperty(["data", "page.html"]);
    edit(file, right, wrong);
    await one.next(/ended before it was ready \(exit code 1\)/);
    edit(file, wrong, right);
    await one.next(ran("done"));
    edit("deploy/crd.yaml", "maximum: 100", "maximum: 7");
    await one.next(/Changed: deploy\/crd\.yaml[^]*runs: process/);
    const crd = await one.ask(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/greetings.example.com",
    );
    expect(JSON.stringify(crd)).toContain('"maximum":7');
    await interrupt(one);
  },
);
