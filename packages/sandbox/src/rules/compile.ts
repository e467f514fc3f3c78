// The rules of a schema, compiled once. Types are not checked: a server refuses the definition of a rule with a wrong type;
// here each write that evaluates the wrong part is refused, with an error that has the rule.
import { celEnv, parse, plan } from "@bufbuild/cel";
import type { CelInput } from "@bufbuild/cel";
import { isTrueAt, listAt, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { patternOf } from "../schema/pattern.ts";
import { functions, missingFunctions } from "./functions.ts";
import { withoutOptionals } from "./optionals.ts";

type Expr = ReturnType<typeof parse>["expr"];
type Call = Extract<Expr["exprKind"], { case: "callExpr" }>["value"];

export interface Program {
  /** Returns an Error if the evaluation fails. */
  readonly run: (variables: Readonly<Record<string, CelInput>>) => unknown;
  readonly usesOld: boolean;
  /** A function in it that the sandbox lacks. */
  readonly missing: string | undefined;
}
export interface Rule {
  readonly json: Json;
  readonly isOptional: boolean;
  /** The error of the syntax in place of a program. */
  readonly program: Program | Error;
  readonly message: Program | Error | undefined;
}

const env = celEnv({ funcs: functions, re2: { compile: patternOf } });
const isExpr = (one: object): one is Expr => "exprKind" in one;
/** All expressions in an expression. */
function expressionsIn(one: unknown): Expr[] {
  if (typeof one !== "object" || one === null) return [];
  return [...(isExpr(one) ? [one] : []), ...Object.values(one).flatMap(expressionsIn)];
}

function missingIn({ function: name, target, args }: Call): string | undefined {
  const space = target?.exprKind.case === "identExpr" ? `${target.exprKind.value.name}.` : "";
  if (target && args.length === 3 && /^(all|exists|existsOne|exists_one)$/.test(name))
    return `${name} with two variables`;
  return [name, space + name].find((one) => missingFunctions.has(one));
}

/** `a.hasValue() ? a.value() : b` for `a.orValue(b)`: a default that is not needed is not evaluated. */
function withoutDefault(one: Expr, value: Call): Expr["exprKind"] {
  const of = (name: string): Expr => ({
    ...one,
    exprKind: { case: "callExpr", value: { ...value, function: name, args: [] } },
  });
  const found = value.function === "or" ? value.target : of("value");
  const { target: _, ...call } = value;
  const args = [of("hasValue"), ...(found ? [found] : []), ...value.args];
  return { case: "callExpr", value: { ...call, function: "_?_:_", args } };
}

function compiled(expression: string): Program | Error {
  try {
    const { expr } = parse(withoutOptionals(expression));
    const all = expressionsIn(expr);
    const calls = all.flatMap(({ exprKind }) => (exprKind.case === "callExpr" ? [exprKind.value] : []));
    const usesOld = all.some(
      ({ exprKind }) => exprKind.case === "identExpr" && exprKind.value.name === "oldSelf",
    );
    for (const one of all)
      if (one.exprKind.case === "callExpr" && /^or(Value)?$/.test(one.exprKind.value.function))
        one.exprKind = withoutDefault(one, one.exprKind.value);
    const missing = calls.map(missingIn).find((name) => name !== undefined);
    return { run: plan(env, expr), usesOld, missing };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const known = new WeakMap<object, readonly Rule[]>();

/** The rules directly in a schema. */
export function rulesOf(schema: JsonObject): readonly Rule[] {
  const rules =
    known.get(schema) ??
    listAt(schema, "x-kubernetes-validations").map((json): Rule => {
      const message = textAt(json, "messageExpression") ?? "";
      return {
        json,
        isOptional: isTrueAt(json, "optionalOldSelf"),
        program: compiled(textAt(json, "rule") ?? ""),
        message: message === "" ? undefined : compiled(message),
      };
    });
  known.set(schema, rules);
  return rules;
}
