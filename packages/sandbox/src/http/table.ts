// Objects as a table, which `kubectl get` prints.
import { writeJson } from "@drover/json";
import { isNumber, isString } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { jsonPath } from "./json-path.ts";
import { nameOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { Column, ResourceType } from "../kinds/resource-type.ts";

/** An age in the short form of kubectl (apimachinery's duration.HumanDuration): `42s`, `5m3s`, `3h20m`, `12d`. */
export function humanDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const both = (big: number, unit: string, small: number, smaller: string): string =>
    `${big}${unit}${small === 0 ? "" : `${small}${smaller}`}`;
  if (seconds < -1) return "<invalid>";
  if (seconds < 120) return `${Math.max(0, seconds)}s`;
  if (minutes < 10) return both(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return both(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return both(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 8 * 365 ? both(years, "y", days % 365, "d") : `${years}y`;
}

function cell(column: Column, object: KubeObject, now: Date): Json {
  const [value] = jsonPath(column.jsonPath)(object);
  if (value === undefined || value === null) return column.type === "date" ? "<unknown>" : null;
  switch (column.type) {
    case "string":
      return isString(value) ? value : writeJson(value);
    case "integer":
    case "number":
      return isNumber(value) ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return isString(value) ? humanDuration(Math.floor((now.getTime() - Date.parse(value)) / 1000)) : null;
    default:
      return null;
  }
}

const nameColumn: JsonObject = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  priority: 0,
};
const definition = ({
  name,
  type,
  format = "",
  description = "",
  priority = 0,
  jsonPath: path,
}: Column): JsonObject => ({
  name,
  type,
  format,
  description: description || `Custom resource definition column (in JSONPath format): ${path}`,
  priority,
});

export interface TableOptions {
  /** The part of its object in each row. */
  readonly include: "None" | "Metadata" | "Object";
  /** True if the table has column definitions; in a watch only the first one has them. */
  readonly headers: boolean;
}

/** A Table of objects, with the metadata of their list. */
export const tableOf = (
  type: ResourceType,
  objects: readonly KubeObject[],
  metadata: JsonObject,
  { include, headers }: TableOptions,
  partial: (object: KubeObject) => JsonObject,
  now: Date,
): JsonObject => ({
  kind: "Table",
  apiVersion: "meta.k8s.io/v1",
  metadata,
  columnDefinitions: headers ? [nameColumn, ...type.columns.map(definition)] : null,
  rows: objects.map((object) => ({
    cells: [nameOf(object), ...type.columns.map((column) => cell(column, object, now))],
    object: include === "None" ? null : include === "Object" ? object : partial(object),
  })),
});
