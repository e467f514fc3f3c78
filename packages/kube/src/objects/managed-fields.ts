import { z } from "zod";
import type { KubeObject } from "@drover/controller";

/** The fields of an object that one manager has set, of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  /** `status`, for example; empty for the object itself. */
  readonly subresource: string;
  /** RFC 3339; undefined if the server keeps no time. */
  readonly time: string | undefined;
  /**
   * Paths of the fields, as the API server writes them in a conflict: `.spec.replicas`,
   * `.spec.containers[name="web"].image`, `.metadata.finalizers["example.com/a"]`.
   */
  readonly fields: ReadonlySet<string>;
}

type FieldSet = { readonly [element: string]: FieldSet };
const fieldSet: z.ZodType<FieldSet> = z.lazy(() => z.record(z.string(), fieldSet));

const entriesSchema = z.array(
  z.looseObject({
    manager: z.string(),
    operation: z.enum(["Apply", "Update"]),
    subresource: z.string().default(""),
    time: z.string().optional(),
    fieldsV1: fieldSet.default({}),
  }),
);

/**
 * Reads which manager has set which fields. Empty if the object was read without `managedFields`.
 *
 * @throws ZodError for entries that no API server writes.
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export const managedFieldsOf = ({ metadata }: Pick<KubeObject, "metadata">): readonly ManagedFields[] =>
  entriesSchema
    .parse(metadata["managedFields"] ?? [])
    .map(({ manager, operation, subresource, time, fieldsV1 }) => ({
      manager,
      operation,
      subresource,
      time,
      fields: new Set(paths(fieldsV1, "")),
    }));

/** `.` names the field itself, as do elements that contain no others. */
function paths(set: FieldSet, above: string): readonly string[] {
  return Object.entries(set).flatMap(([element, below]) => {
    if (element === ".") return [above];
    const path = `${above}${elementText(element)}`;
    return Object.keys(below).length === 0 ? [path] : paths(below, path);
  });
}

/** An element of `fieldsV1`: `f:name`, `k:{"name":"web"}`, `v:"value"` or `i:0`. */
function elementText(element: string): string {
  const [type, value] = [element.slice(0, 2), element.slice(2)];
  if (type === "f:") return `.${value}`;
  if (type !== "k:") return `[${value}]`;
  const keys = Object.entries(z.record(z.string(), z.unknown()).parse(JSON.parse(value)));
  return `[${keys.map(([key, of]) => `${key}=${JSON.stringify(of)}`).join(",")}]`;
}
