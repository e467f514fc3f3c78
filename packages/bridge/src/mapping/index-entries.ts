import { keysNamedBy, type ObjectMetadata, valuesAt } from "@drover/controller";
import {
  type IndexEntry,
  keyOf,
  type KubeObject,
  type LabelSelector,
  labelSelectorIn,
  matchesLabels,
} from "@drover/kube";
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
  const selector = selectorIn(note);
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

function selectorIn(note: string): LabelSelector | undefined {
  try {
    return labelSelectorIn(JSON.parse(note));
  } catch {
    return undefined; // Not JSON.
  }
}

/**
 * The index entries of a selector: under one label that it requires, if any (for `In`, under each value). Every object
 * that it selects has that label.
 */
function selectorEntries(value: unknown, scope: string): readonly IndexEntry[] {
  const selector = labelSelectorIn(value);
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
