import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { z } from "zod";
import { repositoryFiles, root } from "../harness/repository-files.ts";
import { exportsOf } from "./exports-of.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

const manifestSchema = z.object({ name: z.string(), exports: z.record(z.string(), z.string()) });

/** A package exports what another part of the repository imports and what the docs name, and nothing else. */
it("each package exports these names: update verification/repository/exports.list with `npx vitest run verification/repository/exports.test.ts --update`", async () => {
  const packages: string[] = [];
  for await (const file of glob("packages/*/package.json", { cwd: root })) {
    const { name, exports } = manifestSchema.parse(JSON.parse(readFileSync(join(root, file), "utf8")));
    for (const [subpath, module] of Object.entries(exports)) {
      if (!module.endsWith(".ts")) continue;
      const names = [...new Set(exportsOf(join(root, dirname(file), module)))].sort((a, b) =>
        a.replace("type ", "").localeCompare(b.replace("type ", "")),
      );
      packages.push([join(name, subpath), ...names.map((each) => `  ${each}`), ""].join("\n"));
    }
  }
  await expect(packages.sort().join("\n")).toMatchFileSnapshot("exports.list");
});

/** The imports of TypeScript that users read: `drover/kube builtin`. */
function importsIn(code: string): readonly string[] {
  const { statements } = ts.createSourceFile("code.ts", code, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const { text } = statement.moduleSpecifier;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
    return bindings.elements.map(({ name, propertyName }) => `${text} ${(propertyName ?? name).text}`);
  });
}

it("the published package exports only what the docs name, or the template and the examples use", () => {
  const pages = repositoryFiles("README.md", "docs/*.md", "sdk/README.md");
  const docs = pages.flatMap((page) => (page.startsWith("docs/decisions/") ? [] : read(page))).join("\n");
  const snippets = [...docs.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ""]) => code);
  const examples = ["apps/cli/src/init/template", "examples/typescript", "functions/load-balancer/src"];
  const sources = repositoryFiles(...examples.map((folder) => `${folder}/*.ts`)).map(read);
  const imported = new Set([...snippets, ...sources].flatMap(importsIn));
  const words = [...docs.replaceAll(/^```.*?^```/gms, "").matchAll(/`([^`\n]+)`/g)];
  const named = new Set(words.flatMap(([, code = ""]) => code.match(/\w+/g) ?? []));
  const { exports } = manifestSchema.parse(JSON.parse(read("packages/drover/package.json")));
  const unnamed = Object.entries(exports).flatMap(([subpath, module]) =>
    exportsOf(join(root, "packages/drover", module))
      .map((each) => each.replace("type ", ""))
      .filter((name) => !named.has(name) && !imported.has(`${join("drover", subpath)} ${name}`))
      .map((name) => `${subpath} ${name}`),
  );
  expect(imported).toContain("drover defineController");
  expect(unnamed).toEqual([]);
});
