import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clockSkewOf, thisMachine } from "./clock-skew.ts";
import { spawnTied, type TiedProcessOptions } from "./tied-process.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let folder: string;
beforeEach(() => (folder = folderOfTest()));
afterEach(() => vi.unstubAllEnvs());

const minute = 60_000;

/** The lines that a child prints; `skewed` is true of a time by a clock that differs from ours so much. */
async function printed(options: Pick<TiedProcessOptions, "name" | "command" | "args" | "machine">) {
  const lines: string[] = [];
  const child = await spawnTied({
    ...options,
    logFile: join(folder, "log"),
    onLine: (line) => void lines.push(line),
  });
  await child.exited;
  return {
    lines,
    skewed: (skew: number) => (time: string) => Math.abs(Number(time) - Date.now() - skew) < minute,
  };
}

const node = (program: string) => ({ command: process.execPath, args: ["--eval", program] });
const python = (program: string) => ({ command: "python3", args: ["-c", program] });

describe("the clock of a child process", () => {
  it("is minutes from ours in Node, whichever way it is read, and timers are not", async () => {
    const program = `for (const time of [Date.now(), new Date().getTime(), +new Date(), Date.parse(Date()),
      performance.timeOrigin + performance.now()]) console.log(time);
      console.log(new Date(5).getTime(), new Date() instanceof Date, performance.now() < 60_000);`;
    const { lines, skewed } = await printed({ name: "bridge", ...node(program) });
    expect(lines.slice(0, 5).map(skewed(clockSkewOf("bridge")))).toEqual(Array(5).fill(true));
    expect(lines.at(-1)).toBe("5 true true");
  });

  it("is minutes from ours in Python, whichever way it is read", async () => {
    const program = `import time, datetime, email.utils as mail
for t in [time.time(), time.time_ns() / 1e9, datetime.datetime.now().timestamp(),
          datetime.datetime.now(datetime.timezone.utc).timestamp(),
          datetime.datetime.utcnow().replace(tzinfo=datetime.timezone.utc).timestamp(),
          mail.mktime_tz(mail.parsedate_tz(mail.formatdate()))]: print(t * 1000)`;
    const { lines, skewed } = await printed({ name: "moto", ...python(program) });
    expect(lines.map(skewed(clockSkewOf("moto")))).toEqual(Array(6).fill(true));
  });

  it("is another one after a restart, and one that is shared on one machine", async () => {
    const skew = async (options: { name: string; machine?: string }) =>
      (await printed({ ...options, ...node("console.log(process.env.CLOCK_SKEW_MS)") })).lines[0];
    expect(await skew({ name: "restarted" })).not.toBe(await skew({ name: "restarted" }));
    expect(await skew({ name: "one", machine: "shared" })).toBe(
      await skew({ name: "other", machine: "shared" }),
    );
    expect(await skew({ name: "near", machine: thisMachine })).toBe("0");
  });

  it("is ours outside of test suites", async () => {
    vi.stubEnv("LOCAL_CLOCKS", undefined);
    const { lines, skewed } = await printed({ name: "bridge", ...node("console.log(Date.now())") });
    expect(lines.map(skewed(0))).toEqual([true]);
  });
});

describe("skews", () => {
  it("are between 3 and 13 minutes, and follow from the name", () => {
    const names = Array.from({ length: 200 }, (_, i) => `worker-${i}`);
    const minutes = names.map((name) => Math.abs(clockSkewOf(name)) / 60_000);
    expect(minutes.filter((each) => each < 3 || each > 13)).toEqual([]);
    expect(new Set(minutes).size).toBeGreaterThan(190);
    expect(names.map(clockSkewOf)).toEqual(names.map(clockSkewOf));
  });
});
