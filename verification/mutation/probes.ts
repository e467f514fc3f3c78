/**
 * Probes: calls put into source text that write down, once per process, which regions of a file were entered. A region
 * is written as it is entered, so it is recorded even if the process is killed, and for child processes of any kind.
 */
import ts from "typescript";

/** A piece of a file that is entered as a whole, up to a throw or a return in it. */
export interface Region {
  /** Offset of its first character; names it within its file. */
  readonly start: number;
  readonly end: number;
  /** Set for the paths that a program takes only after an error. */
  readonly errorPath?: ErrorPath;
}

/** Syntax that is run after an error: `thrown` is a `try` without `catch` that is left by a throw. */
export type ErrorPath = "catch" | "finally after a throw" | ".catch()" | "second of .then()" | "on error";

interface Insertion {
  readonly at: number;
  readonly text: string;
}

const PROBE = "enteredRegion_";

/** All regions of a file, the file itself first. */
export const regionsOf = (file: string, text: string): readonly Region[] => find(file, text).regions;

/** The region that contains all of a range, and no smaller one does. */
export function regionAround(regions: readonly Region[], start: number, end: number): Region {
  const [first, ...others] = regions.filter((region) => region.start <= start && end <= region.end);
  if (first === undefined) throw new Error("A file is a region itself, and must contain the range.");
  return others.reduce((best, one) => (one.end - one.start < best.end - best.start ? one : best), first);
}

/**
 * The same program, which also writes `name:start` of each region it enters into the file `PROBES_FILE`; into `otherwise`
 * where a process does not get the environment of the one that started it.
 */
export function withProbes(name: string, text: string, otherwise: string): string {
  const { insertions } = find(name, text);
  let result = "";
  let from = 0;
  // Stable: of two insertions at one place, the outer one of an opening pair was found first.
  for (const { at, text: added } of [...insertions].sort((a, b) => a.at - b.at)) {
    result += text.slice(from, at) + added;
    from = at;
  }
  return `${result}${text.slice(from)}\n${recorder(name, otherwise)}\n`;
}

/** Erasable, and on its own: the file may be bundled, or run by a process that knows nothing of the others. */
const recorder = (name: string, otherwise: string): string =>
  `
function ${PROBE}(start) {
  const state = (globalThis.enteredRegions ??= { seen: new Set() });
  const line = ${JSON.stringify(name)} + ":" + start + "\\n";
  if (state.seen.has(line)) return;
  state.seen.add(line);
  try {
    process.getBuiltinModule("node:fs").appendFileSync(process.env.PROBES_FILE ?? ${JSON.stringify(otherwise)}, line);
  } catch {}
}`.trimStart();

function find(file: string, text: string): { regions: readonly Region[]; insertions: readonly Insertion[] } {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const regions: Region[] = [{ start: 0, end: text.length }];
  const insertions: Insertion[] = [{ at: afterShebang(text), text: `${PROBE}(0);` }];

  const block = (node: ts.Node, errorPath?: ErrorPath): void => {
    const start = node.getStart(source);
    regions.push({ start, end: node.end, ...(errorPath && { errorPath }) });
    insertions.push({ at: start + 1, text: `${PROBE}(${start});` });
  };
  const expression = (node: ts.Node, errorPath?: ErrorPath): void => {
    const start = node.getStart(source);
    regions.push({ start, end: node.end, ...(errorPath && { errorPath }) });
    insertions.push({ at: start, text: `(${PROBE}(${start}),` }, { at: node.end, text: ")" });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isBlock(node)) block(node, errorPathOf(node));
    else if (ts.isCaseOrDefaultClause(node)) clause(node);
    else if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) expression(node.body, handlerOf(node));
    else if (ts.isConditionalExpression(node))
      [node.whenTrue, node.whenFalse].forEach((one) => expression(one));
    else if (ts.isBinaryExpression(node) && isShortCircuit(node.operatorToken.kind)) expression(node.right);
    if (ts.isTryStatement(node) && node.catchClause === undefined) rethrow(node);
    ts.forEachChild(node, visit);
  };
  const clause = (node: ts.CaseOrDefaultClause): void => {
    const [first] = node.statements;
    if (first === undefined) return;
    const start = first.getStart(source);
    regions.push({ start, end: node.end });
    insertions.push({ at: start, text: `${PROBE}(${start});` });
  };
  const rethrow = (node: ts.TryStatement): void => {
    // The brace before `finally`: no other region begins there.
    const { end } = node.tryBlock;
    const start = end - 1;
    regions.push({ start, end, errorPath: "finally after a throw" });
    insertions.push({
      at: end,
      text: ` catch (thrown_) { ${PROBE}(${start}); throw thrown_; }`,
    });
  };
  ts.forEachChild(source, visit);
  return { regions, insertions };
}

const afterShebang = (text: string): number => (text.startsWith("#!") ? text.indexOf("\n") + 1 : 0);

const isShortCircuit = (kind: ts.SyntaxKind): boolean =>
  kind === ts.SyntaxKind.AmpersandAmpersandToken ||
  kind === ts.SyntaxKind.BarBarToken ||
  kind === ts.SyntaxKind.QuestionQuestionToken;

function errorPathOf(block: ts.Block): ErrorPath | undefined {
  if (ts.isCatchClause(block.parent)) return "catch";
  return ts.isFunctionLike(block.parent) ? handlerOf(block.parent) : undefined;
}

/** For a function that is passed to what calls it after an error. */
function handlerOf(handler: ts.Node): ErrorPath | undefined {
  const call = handler.parent;
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return undefined;
  const method = call.expression.name.text;
  const [first, second] = call.arguments;
  if (method === "catch" && first === handler) return ".catch()";
  if (method === "then" && second === handler) return "second of .then()";
  const isEvent = ["on", "once", "addListener"].includes(method) && second === handler;
  return isEvent && first !== undefined && ts.isStringLiteral(first) && first.text === "error"
    ? "on error"
    : undefined;
}
