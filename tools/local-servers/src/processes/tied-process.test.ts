import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isRunning } from "./is-running.ts";
import { killed, startModule } from "./module-process.fixture.ts";
import { spawnTied, type TiedProcess } from "./tied-process.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let dir: string;
const open: TiedProcess[] = [];
beforeEach(() => (dir = folderOfTest()));
afterEach(() => Promise.all(open.splice(0).map((child) => child.stop({ graceMs: 0 }))));

/** Starts a child and waits for its first line of output. */
async function startAndRead(command: string, args: string[], more: { detached?: boolean } = {}) {
  const first = Promise.withResolvers<string>();
  const child = await spawnTied({
    name: "child",
    command,
    args,
    logFile: join(dir, "child.log"),
    onLine: first.resolve,
    ...more,
  });
  open.push(child);
  return { child, line: await first.promise };
}

const gone = (pid: number) => vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 });

/** The processes with the text in their arguments. */
function processesWith(text: string): string[] {
  const table = execFileSync("ps", ["-axww", "-o", "pid=,args="], { encoding: "utf8" });
  return table.split("\n").filter((line) => line.includes(text));
}
const watchdogsOf = (pid: number) =>
  processesWith(`read -r done`).filter((line) => line.endsWith(` sh -${pid}`));

describe("a tied process", () => {
  it("runs under its reported pid, with our environment and its own", async () => {
    const { child, line } = await startAndRead("sh", ["-c", 'echo "$$ $EXTRA $HOME"; exec sleep 1000']);
    expect(line).toBe(`${child.pid}  ${process.env["HOME"] ?? ""}`);
  });

  it("reports its exit code or signal, and has its complete output in the log by then", async () => {
    const logFile = join(dir, "deep", "child.log");
    const args = ["-c", "echo out; echo err >&2; exit 3"];
    const failed = await spawnTied({ name: "child", command: "sh", args, logFile });
    expect(await failed.exited).toEqual({ code: 3, signal: null });
    expect(await readFile(logFile, "utf8")).toBe("out\nerr\n");

    const { child } = await startAndRead("sh", ["-c", "echo one; echo two; kill -KILL $$"]);
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(await readFile(child.logFile, "utf8")).toBe("one\ntwo\n");
    expect(child.kill("SIGTERM")).toBe(false);
  });

  it("without an existing command ends with 127 and a line in its log", async () => {
    const child = await spawnTied({ name: "child", command: "no-such-command", logFile: join(dir, "log") });
    expect(await child.exited).toEqual({ code: 127, signal: null });
    expect(await readFile(child.logFile, "utf8")).toContain("no-such-command");
  });

  it("that cannot be started at all is an error that names it", async () => {
    const [cwd, logFile] = [join(dir, "nowhere"), join(dir, "log")];
    const starting = spawnTied({ name: "child", command: "true", cwd, logFile });
    await expect(starting).rejects.toThrow(/^child cannot be started.*nowhere/);
  });

  it("is stopped with SIGTERM, and leaves no watchdog behind", async () => {
    const { child } = await startAndRead("sh", ["-c", "echo here; exec sleep 1000"]);
    expect(watchdogsOf(child.pid)).toHaveLength(1);
    expect(await child.stop()).toEqual({ code: null, signal: "SIGTERM" });
    expect(await child.stop()).toEqual({ code: null, signal: "SIGTERM" });
    expect(isRunning(child.pid)).toBe(false);
    expect(watchdogsOf(child.pid)).toEqual([]);
  });

  it("gets the chance to end in an orderly way though it was paused", async () => {
    const script = "trap 'exit 4' TERM; echo here; while :; do sleep 0.1; done";
    const { child } = await startAndRead("sh", ["-c", script]);
    child.kill("SIGSTOP");
    expect(await child.stop({ graceMs: 30_000 })).toEqual({ code: 4, signal: null });
  });

  it("that ignores SIGTERM is killed after the grace", async () => {
    const script = "trap '' TERM; echo here; while :; do sleep 0.1; done";
    const { child } = await startAndRead("sh", ["-c", script]);
    expect(await child.stop({ graceMs: 10 })).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("takes what it has started with it when it is killed", async () => {
    const { child, line } = await startAndRead("sh", ["-c", "sleep 1000 & echo $!; wait"]);
    expect(isRunning(Number(line))).toBe(true);
    child.kill("SIGKILL");
    await child.exited;
    await gone(Number(line));
  });

  it("that was asked not to have its own process group stays in ours", async () => {
    const groupOf = (pid: number) =>
      execFileSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" });
    const script = ["-c", "echo here; exec sleep 1000"];
    const inOurs = await startAndRead("sh", script, { detached: false });
    const inItsOwn = await startAndRead("sh", script);
    expect(groupOf(inOurs.child.pid)).toBe(groupOf(process.pid));
    expect(Number(groupOf(inItsOwn.child.pid))).toBe(inItsOwn.child.pid);
  });
});

describe("when the parent is killed with SIGKILL", () => {
  /** A parent that starts tied children, and prints their pids. */
  async function parentOf(program: string) {
    const module = JSON.stringify(new URL("tied-process.ts", import.meta.url).href);
    const source = `import { spawnTied } from ${module}; const log = ${JSON.stringify(join(dir, "log"))}; ${program}`;
    const { child, line } = await startModule(source);
    return { parent: child, pids: line.split(" ").map(Number) };
  }

  it.each([true, false])("its child dies, with a group of its own: %s", async (detached) => {
    const { parent, pids } = await parentOf(`
      const child = await spawnTied(
        { name: "child", command: "sleep", args: ["1000"], logFile: log, detached: ${detached} });
      console.log(child.pid);`);
    const [pid = 0] = pids;
    expect(isRunning(pid)).toBe(true);
    await killed(parent);
    await gone(pid);
    await expect.poll(() => watchdogsOf(pid)).toEqual([]);
  });

  it("a child that ignores signals or is paused dies too", async () => {
    const { parent, pids } = await parentOf(`
      const printed = Promise.withResolvers();
      const deaf = await spawnTied({ name: "deaf", command: "sh",
        args: ["-c", "trap '' TERM HUP INT; echo here; while :; do sleep 0.1; done"], logFile: log, onLine: printed.resolve });
      const paused = await spawnTied({ name: "paused", command: "sleep", args: ["1000"], logFile: log });
      paused.kill("SIGSTOP");
      await printed.promise;
      console.log(deaf.pid, paused.pid);`);
    await killed(parent);
    await Promise.all(pids.map(gone));
  });

  it("the children of its tied children die too", async () => {
    const inner = `
      const { spawnTied } = await import(process.argv[1]);
      const child = await spawnTied({ name: "inner", command: "sleep", args: ["1000"], logFile: process.argv[2] });
      console.log(child.pid);`;
    const { parent, pids } = await parentOf(`
      const printed = Promise.withResolvers();
      const outer = await spawnTied({ name: "outer", command: process.execPath, logFile: log, onLine: printed.resolve,
        args: ["--input-type=module", "-e", ${JSON.stringify(inner)},
          ${JSON.stringify(new URL("tied-process.ts", import.meta.url).href)}, log] });
      console.log(outer.pid, await printed.promise);`);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await killed(parent);
    await Promise.all(pids.map(gone));
  });
});
