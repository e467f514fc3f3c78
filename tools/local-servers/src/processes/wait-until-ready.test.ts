import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "./is-running.ts";
import { spawnTied } from "./tied-process.ts";
import { type ReadyOptions, StartError, waitUntilReady } from "./wait-until-ready.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let dir: string;
beforeEach(() => (dir = folderOfTest()));

const shell = (script: string) =>
  spawnTied({ name: "server", command: "sh", args: ["-c", script], logFile: join(dir, "server.log") });
const never = () => Promise.resolve(false);

describe("waitUntilReady", () => {
  it("probes until the probe returns true", async () => {
    const child = await shell("exec sleep 1000");
    const answers = [false, false, true];
    await waitUntilReady(child, () => Promise.resolve(answers.shift() ?? false));
    expect(answers).toEqual([]);
    expect(isRunning(child.pid)).toBe(true);
    await child.stop();
  });

  it("rejects with the end of the log when the child ends first", async () => {
    const child = await shell("seq 100; echo no luck >&2; exit 7");
    const failure = await waitUntilReady(child, never).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartError);
    expect(String(failure)).toMatch(
      /server ended before it was ready \(exit code 7\).*\n82\n(.|\n)*\n100\nno luck$/,
    );
  });

  const giveUp = new AbortController();
  const abort = () => {
    giveUp.abort(new Error("enough"));
    return never();
  };
  it.each<[string, Parameters<typeof waitUntilReady>[1], ReadyOptions, string]>([
    ["the time is over", never, { timeoutMs: 1 }, "server was not ready after 1 ms"],
    ["the signal fires", abort, { signal: giveUp.signal }, "enough"],
    ["the probe itself fails", () => Promise.reject(new Error("wrong server")), {}, "wrong server"],
  ])("stops the child and rejects with the reason when %s", async (_when, probe, options, reason) => {
    const child = await shell("exec sleep 1000");
    await expect(waitUntilReady(child, probe, options)).rejects.toThrow(reason);
    expect(isRunning(child.pid)).toBe(false);
  });
});
