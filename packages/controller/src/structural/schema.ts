/** A JSON value. A bigint is an integer beyond 2^53. */
export type Json =
  string | number | bigint | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A rule in CEL that the API server checks: an item of `x-kubernetes-validations`. */
export interface ValidationRule {
  /** Such as `self.minSize <= self.maxSize`; a rule with `oldSelf` is about changes. */
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?:
    "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Conditions on a value. Only these keywords may appear below `allOf`, `anyOf`, `oneOf` and `not`. */
export interface ValueValidation {
  readonly format?: string;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly allOf?: readonly NestedValidation[];
  readonly anyOf?: readonly NestedValidation[];
  readonly oneOf?: readonly NestedValidation[];
  readonly not?: NestedValidation;
}

/** A value validation below a logical keyword: it may refer to fields, but contains no types. */
export interface NestedValidation extends ValueValidation {
  readonly properties?: Readonly<Record<string, NestedValidation>>;
}

/**
 * A structural schema: the part of OpenAPI v3 that a CustomResourceDefinition accepts. Every value has one type, given
 * once, outside of logical keywords; so the API server can decide which fields to prune, default and merge.
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema)
 */
export interface StructuralSchema extends ValueValidation {
  /** Absent only with `x-kubernetes-int-or-string` or `x-kubernetes-preserve-unknown-fields`. */
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly title?: string;
  readonly description?: string;
  readonly nullable?: true;
  readonly default?: Json;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}
