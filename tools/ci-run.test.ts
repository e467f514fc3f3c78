import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../packages/testing/src/folder.fixture.ts";

// The real .ci/run, with a fake npm first on PATH.
let root: string;
beforeEach(() => {
  root = folderOfTest();
  mkdirSync(join(root, ".ci"));
  mkdirSync(join(root, "bin"));
  copyFileSync(join(import.meta.dirname, "../.ci/run"), join(root, ".ci/run"));
});

interface Parts {
  readonly check: string;
  readonly test: string;
  readonly real: string;
}
const well: Parts = { check: "true", test: "echo 12 passed, 0 failed", real: "echo 3 passed, 0 failed" };

function ciRun({ check, test, real }: Parts): Promise<{ code: unknown; text: string }> {
  const npm = join(root, "bin/npm");
  const cases = `*test:real*) ${real} ;; *check*) ${check} ;; *test*) ${test} ;; *) exit 99 ;;`;
  writeFileSync(npm, `#!/bin/sh\ncase "$*" in ${cases} esac\n`);
  chmodSync(npm, 0o755);
  const env = { ...process.env, PATH: [join(root, "bin"), process.env["PATH"]].join(delimiter) };
  return new Promise((resolve) =>
    execFile(join(root, ".ci/run"), { env }, (error, stdout) =>
      resolve({ code: error === null ? 0 : error.code, text: stdout }),
    ),
  );
}

it("holds when every part does, and shows each count", async () => {
  const { code, text } = await ciRun(well);
  expect(code).toBe(0);
  expect(text).toMatch(/^12 passed, 0 failed$/m);
  expect(text).toMatch(/^3 passed, 0 failed$/m);
});

it.each([
  ["the check fails", { check: "exit 3" }, "check: failed: exit code 3"],
  [
    "tests fail",
    { test: "echo 11 passed, 1 failed; exit 1" },
    "test: 11 passed, 1 failed - failed: exit code 1",
  ],
  ["tests fail and the exit code hides it", { test: "echo 11 passed, 1 failed" }, "failed: tests failed"],
  ["no test ran", { real: "echo 0 passed, 0 failed" }, "test:real: 0 passed, 0 failed - failed: no test ran"],
  ["no task prints a count", { real: "true" }, "test:real: no count - failed"],
  ["a part dies after its count", { test: "echo 12 passed, 0 failed; exit 7" }, "failed: exit code 7"],
])("fails when %s, and runs the other parts all the same", async (_what, broken, verdict) => {
  const { code, text } = await ciRun({ ...well, ...broken });
  expect(code).toBe(1);
  expect(text).toContain(verdict);
  const parts = ["check", "test:install", "test", "test:real", "summary"];
  expect(text.match(/^== .*/gm)).toEqual(parts.map((part) => `== ${part}`));
});

it("lists the failed tests again at the end", async () => {
  const test = 'echo "! a.test.ts: adds"; echo 11 passed, 1 failed; exit 1';
  const { text } = await ciRun({ ...well, test });
  expect(text.slice(text.indexOf("== summary"))).toMatch(/^test: 11 passed.*\n! a\.test\.ts: adds$/m);
});
