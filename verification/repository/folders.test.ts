import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const most = 25;
const root = new URL("../..", import.meta.url).pathname;

it(`no folder has more than ${most} TypeScript files`, () => {
  const files = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx"],
    { cwd: root },
  )
    .toString()
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(root, path)));
  const folders = Map.groupBy(files, dirname);
  expect(folders.size).toBeGreaterThan(100);
  const found = [...folders].filter(([, { length }]) => length > most).map(([folder]) => folder);
  expect(found).toEqual([]);
});
