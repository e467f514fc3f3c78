import { execFile, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRunning } from "@drover/local-servers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { folderOfTest } from "../packages/testing/src/folder.fixture.ts";

// Each test has a repository of its own, with the real bootstrap in it and nothing else that it does not make.
const here = import.meta.dirname;
let root: string;
beforeEach(() => {
  root = folderOfTest();
  cpSync(join(here, "bootstrap.mjs"), join(root, "tools/bootstrap.mjs"));
  cpSync(join(here, "bootstrap"), join(root, "tools/bootstrap"), { recursive: true });
});

const write = (path: string, content: string | object) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
};
const bootstrap = (...args: string[]) => [join(root, "tools/bootstrap.mjs"), ...args];
const environment = { ...process.env, FORCE_COLOR: undefined, npm_config_offline: "true" };

interface Result {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}
const runNode = (...args: string[]): Promise<Result> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { env: environment }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? String(error.signal)), stdout, stderr }),
    );
  });
const run = (...args: string[]) => runNode(...bootstrap(...args));

/** A repository that asks for one package, a folder of its own, and in which nothing is installed. */
function freshClone(version = "1.0.0"): void {
  const packages = {
    "": { name: "clone", workspaces: ["bell"] },
    bell: { version },
    "node_modules/bell": { resolved: "bell", link: true },
  };
  write("package.json", { name: "clone", workspaces: ["bell"] });
  write("bell/package.json", { name: "bell", version });
  write("package-lock.json", { name: "clone", lockfileVersion: 3, requires: true, packages });
}

/** A repository that asks for nothing, and so has everything. */
function installed(): void {
  write("package-lock.json", { packages: {} });
  write("node_modules/.package-lock.json", { packages: {} });
}

/** Sets the program that `npm start` runs. */
const startRuns = (program: string) => write("examples/demo/src/main.ts", program);

describe("an unknown task", () => {
  it("is refused with a suggestion", async () => {
    const { code, stderr } = await run("tset:real");
    expect(code).toBe(2);
    expect(stderr).toContain("Did you mean test:real?");
  });

  it.each([["deploy"], ["toString"], []])("is refused with the list of tasks: %s", async (...args) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "start, test, test:unit, test:real, test:cluster, test:install, test:compose, simulate, chaos:queue, chaos:bridge, soak:bridges, soak:scaling, versions, faults:real, faults:functions, faults:composed, attacks, hostile, rbac, forgeries, buckets, buckets:faults, buckets:polled, buckets:translate, strangers, authors, mutants, mutation, error-paths, workloads, plans, chaos:workloads, cron, metacontroller, conformance, one-event, crds, bench:queue, bench:persistence, bench:bridge, bench:peers, bench:integers, bench:push, bench:workloads, bench:compose, bench:removal, nightly, check, format",
    );
  });
});

describe("packages", () => {
  it("are installed when they are missing, once, and again when the lock asks for others", async () => {
    startRuns(`console.log("started with", process.argv.slice(2).join(" "))`);
    freshClone();
    const first = await run("start", "--s3", "x");
    expect(first.stderr).toContain("Installing the npm packages");
    expect(first).toMatchObject({ code: 0, stdout: "started with --s3 x\n" });
    expect(existsSync(join(root, "node_modules/bell/package.json"))).toBe(true);

    expect(await run("start", "--s3", "x")).toMatchObject({ code: 0, stderr: "" });

    freshClone("2.0.0");
    expect((await run("start", "--s3", "x")).stderr).toContain("Installing the npm packages");
  });

  it("are installed by one of two that start at once, and both go on", async () => {
    startRuns(`console.log("started")`);
    freshClone();
    const both = await Promise.all([run("start"), run("start")]);
    expect(both.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, "started\n"],
      [0, "started\n"],
    ]);
    expect(both.filter(({ stderr }) => stderr.includes("Installing"))).toHaveLength(1);
  });

  it("for another system may be missing, the one for this system may not", async () => {
    startRuns(`console.log("started")`);
    installed();
    const here = { os: process.platform, cpu: process.arch, version: "1.0.0", optional: true };
    const asked = (found: object) => write("package-lock.json", { packages: { "node_modules/none": found } });
    asked({ ...here, cpu: "s390x" });
    expect(await run("start", "--s3", "x")).toMatchObject({ code: 0, stderr: "" });
    asked(here);
    expect((await run("start", "--s3", "x")).stderr).toContain("Installing the npm packages");
  });

  it("that npm cannot install are a failure, in npm's words", async () => {
    freshClone();
    write("package-lock.json", {
      lockfileVersion: 3,
      packages: { "": {}, "node_modules/none": { version: "1.0.0" } },
    });
    const { code, stderr } = await run("check");
    expect(code).toBe(1);
    expect(stderr).toMatch(/npm ci failed[^]*npm error/);
  });
});

describe("a task under way", () => {
  // It has the signal sent once more as soon as it gets the first, and waits whether that comes through.
  const countsSignals = `
    let seen = 0;
    process.on("SIGINT", () => {
      seen += 1;
      if (seen > 1) return;
      process.kill(process.ppid, "SIGINT");
      setTimeout(() => { console.log("seen", seen); process.exit(7); }, 500);
    });
    setInterval(() => undefined, 1000);
    console.log("pid", process.pid);`;
  const waits = "setInterval(() => undefined, 1000); console.log('pid', process.pid)";
  const started = async (program: string, options: SpawnOptions = {}, command = startCommand()) => {
    installed();
    startRuns(program);
    const child = spawn(...command, { env: environment, stdio: ["ignore", "pipe", "inherit"], ...options });
    let text = "";
    child.stdout!.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const pid = await vi.waitFor(() => Number(/pid (\d+)/.exec(text)![1]), { timeout: 30_000 });
    return { child, pid, text: () => text };
  };
  const startCommand = (): [string, string[]] => [process.execPath, bootstrap("start")];

  it("gives its exit code", async () => {
    installed();
    startRuns("process.exit(42)");
    expect(await run("start")).toMatchObject({ code: 42 });
  });

  it("gets Ctrl-C once, though the terminal and npm each send it, and ends with its own exit code", async () => {
    const { child, text } = await started(countsSignals, { detached: true });
    const ended = once(child, "exit");
    process.kill(-child.pid!, "SIGINT");
    expect(await ended).toEqual([7, null]);
    expect(text()).toContain("seen 1\n");
  });

  it("gets SIGTERM; if it dies of it, the exit code is 143", async () => {
    const { child } = await started(waits);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([143, null]);
  });

  it("gets SIGTERM when npm does, although npm's shell does not pass it on", async () => {
    const program = `
      process.on("SIGTERM", () => { console.log("asked to end"); process.exit(0); });
      setInterval(() => undefined, 1000);
      console.log("pid", process.pid);`;
    write("package.json", { scripts: { start: "node tools/bootstrap.mjs start" } });
    const { child: npm, text } = await started(program, { cwd: root }, ["npm", ["start"]]);
    npm.kill("SIGTERM");
    await vi.waitFor(() => expect(text()).toContain("asked to end"), { timeout: 30_000 });
  });

  it("is ended when the bootstrap is killed", async () => {
    const { child, pid } = await started(waits);
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 30_000 });
  });
});

describe("tests", () => {
  const writeTest = (name: string, text: string) =>
    write(`${name}.test.js`, `import { test, expect } from "vitest"; ${text}`);
  const last = (stdout: string) => stdout.trimEnd().split("\n").at(-1);
  beforeEach(() => {
    installed();
    symlinkSync(join(here, "../node_modules/vitest"), join(root, "node_modules/vitest"));
  });

  it("are counted in one line", async () => {
    writeTest("a", `test("a", () => {}); test.skip("b", () => {});`);
    const { code, stdout } = await run("test");
    expect(last(stdout)).toBe("1 passed, 0 failed");
    expect(code).toBe(0);
  });

  it("that fail are counted and named, and so is a file that fails before its first one", async () => {
    writeTest("a", `test("a", () => {}); test("b", () => { throw new Error(); });`);
    write("b.test.js", `throw new Error("early");`);
    const { code, stdout } = await run("test");
    expect(last(stdout)).toBe("1 passed, 2 failed");
    for (const line of ["! a.test.js: b", "! b.test.js", "! early"])
      expect(stdout.split("\n")).toContain(line);
    expect(code).toBe(1);
  });

  it("that do not run at all are a failure, also where vitest takes it for none", async () => {
    writeTest("a", `test.skip("b", () => {});`);
    const { code, stdout, stderr } = await run("test");
    expect(last(stdout)).toBe("0 passed, 0 failed");
    expect(stderr).toContain("No test ran.");
    expect(code).toBe(1);
    expect(await run("test", "--passWithNoTests", "none")).toMatchObject({ code: 1 });
  });

  it("are chosen by the arguments", async () => {
    writeTest("a", `test("a", () => {});`);
    writeTest("b", `test("b", () => {}); test("c", () => {});`);
    expect(last((await run("test", "b.test.js")).stdout)).toBe("2 passed, 0 failed");
  });
});

const packageOfNode = `node-${process.platform}-${process.arch}`;
it.each([
  ["18.20.0", /needs Node 20 or newer, and this is 18\.20\.0/],
  ["20.1.0", /runs on Node 24, and this is 20\.1\.0.*install Node 24/],
  ["20.1.0", new RegExp(packageOfNode)],
])("names the Node to install if npm brings none and this one is %s: %s", async (node, message) => {
  installed();
  startRuns("");
  const old = `data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "${node}" } })`;
  const { code, stderr } = await runNode("--import", old, ...bootstrap("start", "--help"));
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
});
