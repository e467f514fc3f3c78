import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const forTests = ["packages/sandbox", "packages/testing"];
const notShipped = /\.(test|contract|fixture|faults)\.ts$|\/testing\/|\/template\/|\/(memory|contract)\//;
/** Functions whose arguments are reasons of conditions or errors, beside texts that are none. */
const withReason = [
  "yes",
  "no",
  "condition",
  "stop",
  "wait",
  "notReady",
  "retryOutcome",
  "doubtful",
  "SettingRefusal",
  "publish",
  "warn",
];

/**
 * The texts that a property or constant named `reason` gets in a file, those of an object named `reasons`, and those in
 * the first two arguments of the functions that make conditions and errors.
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
    if (ts.isStringLiteral(node) && /^(?!(True|False|Unknown)$)[A-Z][A-Za-z]+$/.test(node.text))
      found.push(node.text);
    else if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(textsOf);
    else if (ts.isAsExpression(node)) textsOf(node.expression);
  };
  const visit = (node: ts.Node): void => {
    const isNamed = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node);
    if (isNamed && node.initializer !== undefined && node.name.getText(source) === "reason")
      textsOf(node.initializer);
    if (isNamed && node.name.getText(source) === "reasons" && node.initializer !== undefined) {
      const { initializer } = node;
      ts.forEachChild(ts.isAsExpression(initializer) ? initializer.expression : initializer, (each) => {
        if (ts.isPropertyAssignment(each)) textsOf(each.initializer);
      });
    }
    const isCondition =
      (ts.isCallExpression(node) || ts.isNewExpression(node)) &&
      node.arguments !== undefined &&
      node.arguments.length > 1 &&
      withReason.includes(node.expression.getText(source));
    if (isCondition) node.arguments.slice(0, 2).forEach(textsOf);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The first columns of the tables under each heading that names parts: `## Title (part, part)`. */
function documentedReasons(markdown: string): ReadonlyMap<string, readonly string[]> {
  const sections = markdown.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = ""] = section.split("\n");
      const rows = section.match(/^\| [A-Z]\w+ +\|.*$/gm) ?? [];
      return [/\((.+)\)/.exec(heading)?.[1] ?? heading, rows.map((row) => row.split("|")[1]?.trim() ?? "")];
    }),
  );
}

it("docs/reference/reasons.md explains the reasons that the code names, and no others", async () => {
  const inCode = new Map<string, Set<string>>();
  for await (const file of glob("{packages,apps,functions}/*/src/**/*.ts", { cwd: root })) {
    const part = file.split("/").slice(0, 2).join("/");
    if (notShipped.test(file) || forTests.includes(part)) continue;
    for (const reason of reasonsIn(file)) inCode.set(part, (inCode.get(part) ?? new Set()).add(reason));
  }
  const documented = documentedReasons(readFileSync(`${root}docs/reference/reasons.md`, "utf8"));
  expect(Object.fromEntries([...documented].map(([parts, reasons]) => [parts, reasons.toSorted()]))).toEqual(
    Object.fromEntries(
      [...documented.keys()].map((parts) => [
        parts,
        [...new Set(parts.split(", ").flatMap((part) => [...(inCode.get(part) ?? [])]))].sort(),
      ]),
    ),
  );
  const explained = [...documented.keys()].flatMap((parts) => parts.split(", "));
  expect([...inCode.keys()].filter((part) => !explained.includes(part))).toEqual([]);
});
