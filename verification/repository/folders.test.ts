import { dirname } from "node:path";
import { expect, it } from "vitest";
import { repositoryFiles } from "../harness/repository-files.ts";

const most = 25;

it(`no folder has more than ${most} TypeScript files`, () => {
  const folders = Map.groupBy(repositoryFiles("*.ts", "*.tsx"), dirname);
  expect(folders.size).toBeGreaterThan(100);
  const found = [...folders].filter(([, { length }]) => length > most).map(([folder]) => folder);
  expect(found).toEqual([]);
});
