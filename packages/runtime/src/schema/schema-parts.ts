import type { z } from "zod";

/** The internal form of a zod schema, or of one of its checks. */
export interface SchemaPart {
  readonly _zod: {
    readonly def: object;
    readonly innerType?: unknown;
    run?: z.core.$ZodTypeInternals["run"];
  };
}

/**
 * Calls `change` with a schema and with every schema and check in it, each once for the same `visited`.
 *
 * Call it when the schema is used, not when it is defined: the target of `z.lazy` need not exist before.
 */
export function visitSchemaParts(
  part: unknown,
  visited: WeakSet<object>,
  change: (part: SchemaPart) => void,
): void {
  if (!isSchemaPart(part) || visited.has(part)) return;
  visited.add(part);
  change(part);
  const visit = (inner: unknown): void => visitSchemaParts(inner, visited, change);
  // A lazy schema has its content here, and not in its definition.
  visit(part._zod.innerType);
  for (const value of Object.values<unknown>({ ...part._zod.def })) {
    visit(value);
    // Options, items and checks are in arrays, an object's fields are in its shape.
    if (typeof value === "object" && value !== null) Object.values<unknown>({ ...value }).forEach(visit);
  }
}

const isSchemaPart = (value: unknown): value is SchemaPart =>
  typeof value === "object" && value !== null && "_zod" in value;
