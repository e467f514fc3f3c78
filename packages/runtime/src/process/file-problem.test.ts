import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileProblem } from "./file-problem.ts";

const folder = mkdtempSync(join(tmpdir(), "drover-files-"));
const file = join(folder, "file");
writeFileSync(file, "");

function thrown(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

it.each([
  [
    "a file in the way of a folder",
    () => mkdirSync(join(file, "folder")),
    /could not be written: a part of its path/,
  ],
  ["a file of the name", () => mkdirSync(file), /could not be written: something else has/],
  ["a folder in the way of a file", () => writeFileSync(folder, ""), /could not be opened: it is a folder/],
  ["a folder that is none", () => readdirSync(file), /could not be read: a part of its path is a file/],
  [
    "a file that is not there",
    () => readFileSync(join(folder, "none")),
    /none could not be opened: it does not/,
  ],
  ["a full disk", () => writeFileSync("/dev/full", "text"), /^A file could not be written: the disk is full/],
])("says what happened to %s", (_what, act, words) => {
  expect(fileProblem(thrown(act))).toMatch(words);
});

it("says nothing about what is no problem of a file", () => {
  const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED", syscall: "connect" });
  expect([new TypeError("x"), refused, "EACCES"].map(fileProblem)).toEqual([undefined, undefined, undefined]);
  rmSync(folder, { recursive: true });
});
