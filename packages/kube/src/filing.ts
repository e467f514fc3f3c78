import type { ObjectMetadata } from "@drover/controller";
import { z } from "zod";
import { valuesAt } from "./field-path.ts";
import { keyOf, type KubeObject } from "./kube-object.ts";
import { type LabelSelector, matchesLabels } from "./label-selector.ts";
import { type Filing, type Lookup, namedBy, type Within } from "./mapping.ts";

/**
 * An entry of an object in a reverse index: a term, and in `note` a selector (as JSON) that must match as well, or
 * nothing. Terms are short and specific, so that a lookup reads only the entries that may match.
 */
export interface FiledTerm {
  readonly term: string;
  readonly note: string;
}

/**
 * The index entries of an object of the controller's kind. A term with a zero byte is left out: no valid name has one.
 */
export const filedUnder = (object: KubeObject, filing: Filing): readonly FiledTerm[] =>
  termsOf(object, filing).filter(({ term }) => !term.includes("\0"));

function termsOf(object: KubeObject, filing: Filing): readonly FiledTerm[] {
  const { metadata } = object;
  switch (filing.by) {
    case "references": {
      const anywhere = { acrossNamespaces: true };
      return namedBy(metadata, valuesAt(object, filing.path), filing.to, anywhere).map(plain);
    }
    case "selects":
      return valuesAt(object, filing.path).flatMap((value) =>
        selectorTerms(value, scopeOf(metadata, filing)),
      );
    case "presence":
      return [plain(scopeOf(metadata, filing))];
    case "holds":
      return [...new Set(valuesAt(object, filing.path).flatMap(heldTerm))].map(plain);
  }
}

/** The terms under which a lookup finds the objects that this object affects. */
export function soughtBy(object: KubeObject, lookup: Lookup): readonly string[] {
  const { metadata } = object;
  switch (lookup.by) {
    case "referencedBy":
      return [keyOf(object)];
    case "selectedBy": {
      const scope = scopeOf(metadata, lookup);
      const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) =>
        labelTerm(scope, name, value),
      );
      return [anyTerm(scope), ...labels.sort()];
    }
    case "all":
      return [scopeOf(metadata, lookup)];
  }
}

/**
 * True if an entry that was found under one of the sought terms matches by its note, too. A note that cannot be read
 * matches everything: an unnecessary wake does no harm.
 */
export function isMeant(sought: readonly string[], note: string): boolean {
  if (note === "") return true;
  const selector = noteSchema.safeParse(note).data;
  return selector === undefined || matchesLabels(selector, labelsIn(sought));
}

/** A value that identifies an object outside the cluster, as a term; empty if the value cannot be a term. */
export function heldTerm(value: unknown): readonly string[] {
  const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
  return typeof text === "string" && text !== "" && text.length <= longestValue ? [text] : [];
}

/** Characters. A longer value is not an identity. */
const longestValue = 1_024;

/** The scope of all namespaces: no namespace has this name. */
const everywhere = "";

const plain = (term: string): FiledTerm => ({ term, note: "" });

const scopeOf = (
  { namespace = everywhere }: ObjectMetadata,
  { within }: { readonly within: Within },
): string => (within === "namespace" ? namespace : everywhere);

const anyTerm = (scope: string): string => `${scope}|`;
const labelTerm = (scope: string, name: string, value: string): string => `${scope}|${name}=${value}`;

function labelsIn(sought: readonly string[]): Readonly<Record<string, string>> {
  const pairs = sought.flatMap((term) => {
    const pair = term.slice(term.indexOf("|") + 1);
    const equals = pair.indexOf("=");
    return equals < 0 ? [] : [[pair.slice(0, equals), pair.slice(equals + 1)] as const];
  });
  return Object.fromEntries(pairs);
}

const requirement = z.union([
  z.object({ key: z.string(), operator: z.enum(["In", "NotIn"]), values: z.array(z.string()) }),
  z.object({ key: z.string(), operator: z.enum(["Exists", "DoesNotExist"]) }),
]);
const selectorSchema = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(requirement).optional(),
});
/** A `meta/v1` LabelSelector, or a map of labels, as in a Service. An empty one selects everything. */
const selectingSchema = z.union([
  selectorSchema,
  z.record(z.string(), z.string()).transform((matchLabels): LabelSelector => ({ matchLabels })),
]);
const noteSchema = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue("Not JSON.");
      return z.NEVER;
    }
  })
  .pipe(selectorSchema);

/**
 * The index entries of a selector: under one label that it requires, if any (for `In`, under each value). Every object
 * that it selects has that label.
 */
function selectorTerms(value: unknown, scope: string): readonly FiledTerm[] {
  const selector = selectingSchema.safeParse(value).data;
  if (selector === undefined) return [];
  const note = JSON.stringify(selector);
  const [label] = Object.entries(selector.matchLabels ?? {}).sort();
  if (label !== undefined) return [{ term: labelTerm(scope, ...label), note }];
  for (const asked of selector.matchExpressions ?? []) {
    if (asked.operator !== "In") continue;
    return [...new Set(asked.values)].map((one) => ({ term: labelTerm(scope, asked.key, one), note }));
  }
  return [{ term: anyTerm(scope), note: note === "{}" ? "" : note }];
}
