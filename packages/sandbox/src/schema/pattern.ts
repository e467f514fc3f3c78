// The patterns of schemas. The API server reads them with regexp of Go, which is RE2; here RE2JS does.
import { RE2JS } from "re2js";

/** A Unicode property by name: `\p{Lu}`, `\p{^Greek}`. */
const properties = /\\[pP]\{\^?([^}]*)\}/g;
/** General categories: besides the names of scripts, the only names that all versions of Go accept. */
const category = /^(Any|[LMNPSZC][a-z]?)$/;

const isScript = (name: string): boolean => {
  try {
    // Go 1.26 does not accept names with a `_`.
    return /^[A-Z][a-z]+$/.test(name) && new RegExp(`\\p{Script=${name}}`, "u").unicode;
  } catch {
    return false;
  }
};

const compiled = new Map<string, RE2JS>();

/**
 * A pattern, compiled.
 *
 * @throws Error with the words of Go if Go does not compile it, or with other words if only a real server can decide:
 * for a property by a long name (the version of Go decides), and for two groups of one name.
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

/** True if a part of `text` matches. A lone surrogate counts as U+FFFD, as in the decoder of Go. */
export const matches = (source: string, text: string): boolean => patternOf(source).test(text.toWellFormed());

/** The reason why a pattern cannot be compiled; undefined if it can. */
export function patternProblem(source: string): string | undefined {
  try {
    patternOf(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
