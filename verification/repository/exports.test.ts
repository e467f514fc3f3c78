import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";
import { z } from "zod";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The names that a module exports, types as `type Name`. `export *` is followed within the package. */
function exportsOf(file: string): readonly string[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement): readonly string[] => {
    if (ts.isExportDeclaration(statement)) return reExports(file, statement);
    const isExported = ts.canHaveModifiers(statement)
      ? ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      : false;
    return isExported === true ? declaredNames(statement) : [];
  });
}

function reExports(
  file: string,
  { isTypeOnly, exportClause, moduleSpecifier }: ts.ExportDeclaration,
): readonly string[] {
  if (exportClause === undefined) {
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
    const { text } = moduleSpecifier;
    return text.startsWith(".") ? exportsOf(join(dirname(file), text)) : [`* from ${text}`];
  }
  if (ts.isNamespaceExport(exportClause)) return [exportClause.name.text];
  return exportClause.elements.map((each) =>
    isTypeOnly || each.isTypeOnly ? `type ${each.name.text}` : each.name.text,
  );
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? name.text : [],
    );
  }
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
    return [`type ${statement.name.text}`];
  }
  const isNamed = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

const manifestSchema = z.object({ name: z.string(), exports: z.record(z.string(), z.string()) });

/** A package exports what another part of the repository imports and what the docs name, and nothing else. */
it("each package exports these names: update verification/repository/exports.list with `npx vitest run verification/repository/exports.test.ts --update`", async () => {
  const packages: string[] = [];
  for await (const file of glob("packages/*/package.json", { cwd: root })) {
    const { name, exports } = manifestSchema.parse(JSON.parse(readFileSync(join(root, file), "utf8")));
    for (const [subpath, module] of Object.entries(exports)) {
      const names = [...new Set(exportsOf(join(root, dirname(file), module)))].sort((a, b) =>
        a.replace("type ", "").localeCompare(b.replace("type ", "")),
      );
      packages.push([join(name, subpath), ...names.map((each) => `  ${each}`), ""].join("\n"));
    }
  }
  await expect(packages.sort().join("\n")).toMatchFileSnapshot("exports.list");
});
