import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { regionAround, regionsOf, withProbes } from "./probes.ts";

const folder = folderOfFile();

/** What a program prints with probes in it, and the code of the regions that it has entered. */
function run(text: string, env: NodeJS.ProcessEnv = {}): { output: string; entered: readonly string[] } {
  const file = join(folder, "program.ts");
  const record = join(folder, "record");
  rmSync(record, { force: true });
  writeFileSync(file, withProbes("program.ts", text, record));
  const output = execFileSync(process.execPath, [file], { env: { PATH: process.env["PATH"], ...env } });
  const lines = readFileSync(env["PROBES_FILE"] ?? record, "utf8")
    .trim()
    .split("\n");
  const regions = new Map(regionsOf(file, text).map((region) => [`program.ts:${region.start}`, region]));
  return {
    output: output.toString().trim(),
    entered: lines.map((line) => {
      const { start, end } = regions.get(line)!;
      return start === 0 ? "the file" : text.slice(start, end);
    }),
  };
}

it("a program does the same with probes in it", () => {
  const text = `#!/usr/bin/env node
import { strict as assert } from "node:assert";
const pick = (n: number): string | undefined => n === 0 ? undefined : ({ 1: "one" } as Record<number, string>)[n] ?? \`many\`;
const drawn = async function* (): AsyncGenerator<string> { for (const n of [0, 1, 2]) yield pick(n) || (await "none"); };
function left(): number { try { return 1; } finally { console.log("on the way"); } }
switch (left()) { case 0: case 1: { console.log("case"); } default: }
try { try { throw new Error("thrown"); } finally { console.log("finally"); } } catch (error) { assert(error instanceof Error); console.log(error.message); }
for await (const one of drawn()) console.log(one);
`;
  const plain = join(folder, "plain.ts");
  writeFileSync(plain, text);
  const expected = execFileSync(process.execPath, [plain]).toString().trim();
  expect(run(text).output).toBe(expected);
  expect(expected.split("\n")).toHaveLength(7);
});

it("what is entered is written down, also by a process that is killed, and where it was asked for", () => {
  const text = `const yes = (): number => 1;\nconst no = (): number => 2;\nyes() > 0 || no();\nprocess.kill(process.pid, "SIGKILL");`;
  const asked = join(folder, "asked");
  expect(() => run(text, { PROBES_FILE: asked })).toThrow("Command failed");
  expect(readFileSync(asked, "utf8").trim().split("\n")).toEqual([
    "program.ts:0",
    `program.ts:${text.indexOf("1;")}`,
  ]);
});

it("paths after an error are distinguished from others, and a finally after a throw from one without", () => {
  const quiet = `\ntry { 1; } catch { 2; }\ntry { 3; } finally { 4; }\nPromise.resolve().then(() => 5, () => 6).catch(() => 7);`;
  const kinds = regionsOf("program.ts", quiet).flatMap(({ errorPath = [] }) => errorPath);
  expect(kinds.toSorted()).toEqual([".catch()", "catch", "finally after a throw", "second of .then()"]);
  expect(run(quiet).entered).toEqual(["the file", "{ 1; }", "{ 3; }", "{ 4; }", "5"]);
  const loud = `\ntry { try { throw 1; } finally { 2; } } catch { 3; }`;
  expect(run(loud).entered).toContain("}");
});

it("a place belongs to the smallest region around it", () => {
  const text = `const f = (a: boolean): number => (a ? 1 : 2);`;
  const at = text.indexOf("2");
  expect(regionAround(regionsOf("a.ts", text), at, at + 1)).toEqual({ start: at, end: at + 1 });
});
