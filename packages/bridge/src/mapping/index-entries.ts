import { keysNamedBy, type ObjectMetadata, valuesAt } from "@drover/controller";
import { z } from "zod";
import { keyOf, type KubeObject, type LabelSelector, matchesLabels, type IndexEntry } from "@drover/kube";
import { type IndexMapping, type Lookup, type Within } from "./mapping.ts";

/**
 * The index entries of an object of the controller's kind. A term with a zero byte is left out: no valid name has one.
 */
export const indexEntriesOf = (object: KubeObject, mapping: IndexMapping): readonly IndexEntry[] =>
  unfilteredEntriesOf(object, mapping).filter(({ term }) => !term.includes("\0"));

function unfilteredEntriesOf(object: KubeObject, mapping: IndexMapping): readonly IndexEntry[] {
  const { metadata } = object;
  switch (mapping.by) {
    case "references": {
      const anywhere = { acrossNamespaces: true };
      return keysNamedBy(metadata, valuesAt(object, mapping.path), mapping.to, anywhere).map(
        entryWithoutSelector,
      );
    }
    case "selects":
      return valuesAt(object, mapping.path).flatMap((value) =>
        selectorEntries(value, scopeOf(metadata, mapping)),
      );
    case "presence":
      return [entryWithoutSelector(scopeOf(metadata, mapping))];
    case "holds":
      return [...new Set(valuesAt(object, mapping.path).flatMap(valueTerms))].map(entryWithoutSelector);
  }
}

/** The terms under which a lookup finds the objects that this object affects. */
export function lookupTermsOf(object: KubeObject, lookup: Lookup): readonly string[] {
  const { metadata } = object;
  switch (lookup.by) {
    case "referencedBy":
      return [keyOf(object)];
    case "selectedBy": {
      const scope = scopeOf(metadata, lookup);
      const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) =>
        labelTerm(scope, name, value),
      );
      return [scopeTerm(scope), ...labels.sort()];
    }
    case "all":
      return [scopeOf(metadata, lookup)];
  }
}

/**
 * True if an entry that was found under one of the sought terms matches by its note, too. A note that cannot be read
 * matches everything: an unnecessary wake does no harm.
 */
export function isMatchingEntry(sought: readonly string[], note: string): boolean {
  if (note === "") return true;
  const selector = noteSchema.safeParse(note).data;
  return selector === undefined || matchesLabels(selector, labelsIn(sought));
}

/** A value that identifies an object outside the cluster, as a term; empty if the value cannot be a term. */
export function valueTerms(value: unknown): readonly string[] {
  const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
  return typeof text === "string" && text !== "" && text.length <= longestValue ? [text] : [];
}

/** Characters. A longer value is not an identity. */
const longestValue = 1_024;

/** The scope of all namespaces: no namespace has this name. */
const allNamespaces = "";

const entryWithoutSelector = (term: string): IndexEntry => ({ term, note: "" });

const scopeOf = (
  { namespace = allNamespaces }: ObjectMetadata,
  { within }: { readonly within: Within },
): string => (within === "namespace" ? namespace : allNamespaces);

const scopeTerm = (scope: string): string => `${scope}|`;
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
function selectorEntries(value: unknown, scope: string): readonly IndexEntry[] {
  const selector = selectingSchema.safeParse(value).data;
  if (selector === undefined) return [];
  const note = JSON.stringify(selector);
  const [label] = Object.entries(selector.matchLabels ?? {}).sort();
  if (label !== undefined) return [{ term: labelTerm(scope, ...label), note }];
  for (const asked of selector.matchExpressions ?? []) {
    if (asked.operator !== "In") continue;
    return [...new Set(asked.values)].map((one) => ({ term: labelTerm(scope, asked.key, one), note }));
  }
  return [{ term: scopeTerm(scope), note: note === "{}" ? "" : note }];
}
