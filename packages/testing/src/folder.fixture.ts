import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "drover-test-"));

/** A new folder, deleted after the tests of the file or of the `describe` block. */
export function folderOfFile(): string {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A new folder, deleted after the current test. */
export function folderOfTest(): string {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
