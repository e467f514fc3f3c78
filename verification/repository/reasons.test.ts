import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const forTests = ["packages/sandbox", "packages/testing"];
const notShipped = /\.(test|contract|fixture|faults)\.ts$|\/testing\/|\/template\//;
const header = `# Reasons

The reasons of conditions, Events, outcomes and log lines, by the part of Drover that gives them. Scripts and alerts
may match reasons; messages are for people and may change. Written from the code: see verification/repository/reasons.test.ts.
`;

/**
 * The texts that a property or constant named `reason` gets in a file, and those in the first two arguments of the
 * functions that make conditions.
 */
function reasonsIn(file: string): readonly string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(`${root}${file}`, "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: string[] = [];
  const textsOf = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) && /^(?!(True|False)$)[A-Z][A-Za-z]+$/.test(node.text))
      found.push(node.text);
    else if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(textsOf);
    else if (ts.isAsExpression(node)) textsOf(node.expression);
  };
  const visit = (node: ts.Node): void => {
    const isNamed = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node);
    if (isNamed && node.initializer !== undefined && node.name.getText(source) === "reason")
      textsOf(node.initializer);
    const isCondition =
      ts.isCallExpression(node) && ["yes", "no", "condition"].includes(node.expression.getText(source));
    if (isCondition) node.arguments.slice(0, 2).forEach(textsOf);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it("docs/reference/reasons.md has the reasons that the code names", async () => {
  const byPart = new Map<string, Set<string>>();
  for await (const file of glob("{packages,apps,functions}/*/src/**/*.ts", { cwd: root })) {
    const part = file.split("/").slice(0, 2).join("/");
    if (notShipped.test(file) || forTests.includes(part)) continue;
    for (const reason of reasonsIn(file)) byPart.set(part, (byPart.get(part) ?? new Set()).add(reason));
  }
  const rows = [...byPart]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([part, reasons]) => `- **${part}**: ${[...reasons].sort().join(", ")}\n`);
  await expect([header, ...rows].join("\n")).toMatchFileSnapshot("../../docs/reference/reasons.md");
});
