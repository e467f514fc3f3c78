import { isDeepStrictEqual } from "node:util";
import type { PodTemplate } from "@drover/workloads";
import { hashLabel } from "./annotations.ts";

/**
 * True if two templates ask for the same pods, apart from the label that distinguishes sets, and from what is empty.
 */
export const isSameTemplate = (a: PodTemplate, b: PodTemplate): boolean =>
  isDeepStrictEqual(withoutEmptyParts(withoutHash(a)), withoutEmptyParts(withoutHash(b)));

/** A template as a Deployment has it, without the label that distinguishes sets. */
export function withoutHash(template: PodTemplate): PodTemplate {
  const { [hashLabel]: _, ...labels } = template.metadata.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/**
 * A value without its empty parts, and with sorted fields: Go does not distinguish an empty list from an absent one.
 */
export function withoutEmptyParts(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmptyParts);
  if (typeof value !== "object" || value === null) return value ?? undefined;
  const parts = Object.entries(value)
    .map(([name, part]) => [name, withoutEmptyParts(part)] as const)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}
