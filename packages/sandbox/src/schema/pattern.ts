// Patterns of schemas as the API server reads them: by Go's regexp, which is RE2, here by RE2JS.
import { RE2JS } from "re2js";

/** A Unicode property by name: `\p{Lu}`, `\p{^Greek}`. */
const properties = /\\[pP]\{\^?([^}]*)\}/g;
/** General categories, the only names that every version of Go takes besides those of scripts. */
const category = /^(Any|[LMNPSZC][a-z]?)$/;

const isScript = (name: string): boolean => {
  try {
    // Go 1.26 does not take those with a `_`.
    return /^[A-Z][a-z]+$/.test(name) && new RegExp(`\\p{Script=${name}}`, "u").unicode;
  } catch {
    return false;
  }
};

const compiled = new Map<string, RE2JS>();

/**
 * A pattern, compiled.
 *
 * @throws Error in Go's words where Go does not compile it, or in words of its own where only the real server can judge:
 * a property by a long name (which of them Go takes depends on its version), and two groups of one name.
 */
export function patternOf(source: string): RE2JS {
  const known = compiled.get(source);
  if (known) return known;
  for (const [property, name = ""] of source.matchAll(properties))
    if (!category.test(name) && !isScript(name))
      throw new Error(`the sandbox does not know the property ${property}; use a category, such as \\p{Lu}`);
  const pattern = RE2JS.compile(source);
  compiled.set(source, pattern);
  return pattern;
}

/** Whether a part of `text` matches. Half of a pair of surrogates is U+FFFD, as for Go's decoder. */
export const matches = (source: string, text: string): boolean => patternOf(source).test(text.toWellFormed());

/** Why a pattern cannot be compiled; undefined where it can. */
export function patternProblem(source: string): string | undefined {
  try {
    patternOf(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
