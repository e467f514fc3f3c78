import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/** The names that a module exports, types as `type Name`. `export *` is followed within the package. */
export function exportsOf(file: string): readonly string[] {
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
