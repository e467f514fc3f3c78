import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { repositoryFiles, root } from "../harness/repository-files.ts";

/** The files that a file imports by a relative path. The linter's layers keep packages free of cycles. */
function importedBy(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), "utf8"), true, true);
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith("."))
    .map((name) => join(dirname(file), name));
}

/** Leaves out, again and again, each file that imports none of the others, or that none of them imports. */
function filesOnCycles(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  let remaining = [...imports.keys()];
  for (let before = Infinity; remaining.length < before;) {
    before = remaining.length;
    const imported = new Set(remaining.flatMap((file) => imports.get(file) ?? []));
    const present = new Set(remaining);
    remaining = remaining.filter(
      (file) => imported.has(file) && imports.get(file)?.some((each) => present.has(each)),
    );
  }
  return remaining;
}

it("no TypeScript files import each other in a circle, not even types", () => {
  const imports = new Map(repositoryFiles("*.ts", "*.tsx").map((file) => [file, importedBy(file)]));
  expect(imports.get("packages/queue/src/worker/worker.ts")).toContain("packages/queue/src/worker/runner.ts");
  expect(filesOnCycles(imports)).toEqual([]);
});
