import { quoted, shownValue } from "../http/go-text.ts";
import { isString } from "../json.ts";
import type { Json } from "../json.ts";

/** The error of one field, with the words and reasons of the API server (apimachinery, util/validation/field). */
export interface FieldError {
  readonly reason: string;
  readonly field: string;
  /** The message after the name of the field. */
  readonly body: string;
}

const shown = (value: Json | undefined): string => shownValue(value === undefined ? "" : value);
const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`;
const detailed = (title: string, detail: string): string => (detail === "" ? title : `${title}: ${detail}`);

export const invalid = (field: string, value: Json | undefined, detail: string): FieldError => ({
  reason: "FieldValueInvalid",
  field,
  body: detailed(`Invalid value: ${shown(value)}`, detail),
});
export const typeInvalid = (field: string, value: Json, detail: string): FieldError => ({
  reason: "FieldValueTypeInvalid",
  field,
  body: detailed(`Invalid value: ${shown(value)}`, detail),
});
export const required = (field: string, detail = ""): FieldError => ({
  reason: "FieldValueRequired",
  field,
  body: detailed("Required value", detail),
});
export const forbidden = (field: string, detail: string): FieldError => ({
  reason: "FieldValueForbidden",
  field,
  body: detailed("Forbidden", detail),
});
export const duplicate = (field: string, value: Json): FieldError => ({
  reason: "FieldValueDuplicate",
  field,
  body: `Duplicate value: ${shown(value)}`,
});
export const notSupported = (field: string, value: Json, supported: readonly Json[]): FieldError => ({
  reason: "FieldValueNotSupported",
  field,
  body: `Unsupported value: ${shown(value)}: supported values: ${supported
    .map((one) => quoted(isString(one) ? one : shownValue(one)))
    .join(", ")}`,
});
export const tooLong = (field: string, most: number): FieldError => ({
  reason: "FieldValueTooLong",
  field,
  body: `Too long: may not be more than ${counted(most, "byte")}`,
});
export const tooMany = (field: string, count: number, most: number): FieldError => ({
  reason: "FieldValueTooMany",
  field,
  body: `Too many: ${count}: must have at most ${counted(most, "item")}`,
});

/** A list of the error if the condition holds, else an empty list. */
export const when = (holds: boolean, error: FieldError): FieldError[] => (holds ? [error] : []);
