import { errorFields, isSecretName, redact } from "@drover/controller";

/** Limits: levels of nested fields, and entries of one list or object. */
const maxDepth = 8;
const maxEntries = 1_000;

/**
 * Converts a value for a log line, as JSON would. Errors keep only the allowed fields, at any depth; texts are scrubbed
 * of secrets; fields that are named like secrets become `***`, and bytes become their number. Never throws.
 */
export function logFields(value: unknown): unknown {
  return fieldsOf(value, []);
}

function fieldsOf(value: unknown, above: readonly unknown[]): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (isError(value)) return errorFields(value);
  if (value instanceof Uint8Array) return `${value.byteLength} bytes`;
  if (above.includes(value) || above.length >= maxDepth) return "…";
  const within = [...above, value];
  try {
    if (Array.isArray(value)) return value.slice(0, maxEntries).map((entry) => fieldsOf(entry, within));
    if ("toJSON" in value && typeof value.toJSON === "function") {
      const json = (value as { readonly toJSON: () => unknown }).toJSON();
      return fieldsOf(json, within);
    }
    const shown = ([name, entry]: readonly [string, unknown]): readonly [string, unknown] => {
      if (typeof entry === "string" && isSecretName(name)) return [name, "***"];
      // Code may throw values that are not errors.
      const isThrown = typeof entry === "object" && entry !== null && /^(err|error|cause)$/.test(name);
      return [name, isThrown ? errorFields(entry) : fieldsOf(entry, within)];
    };
    return Object.fromEntries(Object.entries(value).slice(0, maxEntries).map(shown));
  } catch {
    return "a value that cannot be read";
  }
}

/** True also for an error of another realm, such as of `node:vm`. */
function isError(value: object): boolean {
  try {
    return value instanceof Error || ("stack" in value && "message" in value);
  } catch {
    return true;
  }
}
