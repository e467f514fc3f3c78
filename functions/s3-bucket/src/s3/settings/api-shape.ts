import { isList, type SettingValue } from "@drover/external";

/**
 * The fields of a spec are those of the S3 API with a small first letter. These are the exceptions, in which the API
 * has an abbreviation in capitals.
 */
const abbreviations = {
  corsRules: "CORSRules",
  id: "ID",
  kmsMasterKeyId: "KMSMasterKeyID",
  replicaKmsKeyId: "ReplicaKmsKeyID",
  sseAlgorithm: "SSEAlgorithm",
  sseKms: "SSEKMS",
  sseS3: "SSES3",
  uri: "URI",
} as const;
const specNames = new Map<string, string>(Object.entries(abbreviations).map(([spec, api]) => [api, spec]));
const apiNames = new Map<string, string>(Object.entries(abbreviations));

type Abbreviations = typeof abbreviations;
type ApiName<Field> = Field extends keyof Abbreviations
  ? Abbreviations[Field]
  : Field extends string
    ? Capitalize<Field>
    : never;

/** A value of a spec as the S3 API has it. The field `date` is a Date there. */
export type ApiShape<Value> = Value extends readonly (infer Item)[]
  ? ApiShape<Item>[]
  : Value extends object
    ? { [Field in keyof Value as ApiName<Field>]: Field extends "date" ? Date : ApiShape<Value[Field]> }
    : Value;

/** A value of a spec as the S3 API has it. */
export function toApi<Value extends SettingValue>(value: Value): ApiShape<Value> {
  // The type follows from the names; the compiler cannot follow a walk over them.
  return apiValue(value) as ApiShape<Value>;
}

function apiValue(value: SettingValue | undefined): unknown {
  if (typeof value !== "object") return value;
  if (isList(value)) return value.map(apiValue);
  return Object.fromEntries(
    Object.entries(value).map(([field, part]) => [
      apiNames.get(field) ?? field.charAt(0).toUpperCase() + field.slice(1),
      field === "date" && typeof part === "string" ? new Date(part) : apiValue(part),
    ]),
  );
}

/** A value of the S3 API as a spec has it. Undefined for a value that no spec can have. */
export function fromApi(value: unknown): SettingValue | undefined {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(fromApi).filter((part) => part !== undefined);
  if (typeof value !== "object" || value === null) return undefined;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([field, part]) => [specName(field), fromApi(part)]),
  );
}

const specName = (field: string): string =>
  field === "Id" ? "id" : (specNames.get(field) ?? field.charAt(0).toLowerCase() + field.slice(1));
