import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { fileProblem } from "./file-problem.ts";

const folder = folderOfFile();
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
  ["a file of the same name", () => mkdirSync(file), /could not be written: something else has/],
  ["a folder in the way of a file", () => writeFileSync(folder, ""), /could not be opened: it is a folder/],
  ["a file in place of a folder", () => readdirSync(file), /could not be read: a part of its path is a file/],
  ["a missing file", () => readFileSync(join(folder, "none")), /none could not be opened: it does not/],
  ["a full disk", () => writeFileSync("/dev/full", "text"), /^A file could not be written: the disk is full/],
])("describes the problem of %s", (_what, act, expected) => {
  expect(fileProblem(thrown(act))).toMatch(expected);
});

it("returns nothing for other errors", () => {
  const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED", syscall: "connect" });
  expect([new TypeError("x"), refused, "EACCES"].map(fileProblem)).toEqual([undefined, undefined, undefined]);
});
