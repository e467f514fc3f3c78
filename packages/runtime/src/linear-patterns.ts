import { goPatternProblem } from "@drover/controller";
import { RE2JS } from "re2js";
import type { z } from "zod";
import { changeParts, type SchemaPart } from "./schema-parts.ts";

/**
 * Makes a schema match its patterns with RE2, as the API server does: in time linear in the text. JavaScript's own engine
 * backtracks: `^([a-z0-9]+-?)+$` takes it two seconds for 28 letters and twice that for each more, and who may write an
 * object could stop every Pod that reads it.
 *
 * The checks of the schema are changed in place, once, since a copy of a schema would be another one for its author. Patterns
 * that RE2 does not read the same way (`goPatternProblem`) keep JavaScript's engine: in a CRD there are none.
 */
export function withLinearPatterns<Schema extends z.core.$ZodType>(schema: Schema): Schema {
  changeParts(schema, visited, matchLinearly);
  return schema;
}

/** A pattern whose `test` is RE2's. Its source, and all else, is as it was. */
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
  // `z.stringFormat` makes a function of a pattern, and calls that.
  if (isFormat(def)) def.fn = (text) => pattern.test(text);
}

const isFormat = (def: object): def is { fn: (text: string) => boolean } => "fn" in def;

const hasPattern = (def: object): def is { pattern: RegExp } =>
  "pattern" in def && def.pattern instanceof RegExp;
