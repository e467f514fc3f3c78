import { goPatternProblem } from "@drover/controller";
import { RE2JS } from "re2js";
import type { z } from "zod";
import { visitSchemaParts, type SchemaPart } from "./schema-parts.ts";

/**
 * Makes a schema match its patterns with RE2, as the API server does, in time linear in the text. JavaScript's own
 * engine backtracks: `^([a-z0-9]+-?)+$` takes two seconds for 28 letters, and twice as long for each further one. So
 * any user that may write an object could stop every Pod that reads it.
 *
 * The checks of the schema are changed in place, once, because its author uses this schema and not a copy. Patterns
 * that RE2 would read differently (`goPatternProblem`) keep JavaScript's engine; a CRD contains none of them.
 */
export function withLinearPatterns<Schema extends z.core.$ZodType>(schema: Schema): Schema {
  visitSchemaParts(schema, visited, matchLinearly);
  return schema;
}

/** A pattern with RE2's `test`. All else, such as its source, is unchanged. */
class LinearPattern extends RegExp {
  readonly #compiled: RE2JS;

  constructor(pattern: RegExp) {
    super(pattern);
    this.#compiled = RE2JS.compile(pattern.source);
  }

  override test(text: string): boolean {
    return this.#compiled.test(text);
  }
}

const visited = new WeakSet<object>();

function matchLinearly({ _zod: { def } }: SchemaPart): void {
  if (!hasPattern(def) || goPatternProblem(def.pattern) !== undefined) return;
  const pattern = new LinearPattern(def.pattern);
  def.pattern = pattern;
  // `z.stringFormat` turns a pattern into a function, and calls the function.
  if (isFormat(def)) def.fn = (text) => pattern.test(text);
}

const isFormat = (def: object): def is { fn: (text: string) => boolean } => "fn" in def;

const hasPattern = (def: object): def is { pattern: RegExp } =>
  "pattern" in def && def.pattern instanceof RegExp;
