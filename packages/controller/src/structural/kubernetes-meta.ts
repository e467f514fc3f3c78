import { z } from "zod";
import type { Place } from "./place.ts";
import type { StructuralSchema } from "./schema.ts";

const rule = z.strictObject({
  rule: z.string().min(1),
  message: z.string().exactOptional(),
  messageExpression: z.string().exactOptional(),
  reason: z
    .enum(["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"])
    .exactOptional(),
  fieldPath: z.string().exactOptional(),
  optionalOldSelf: z.boolean().exactOptional(),
});

const kubernetesMeta = z.strictObject({
  cel: z.array(rule).readonly().exactOptional(),
  preserveUnknownFields: z.literal(true).exactOptional(),
  listType: z.enum(["atomic", "set", "map"]).exactOptional(),
  listMapKeys: z.array(z.string()).readonly().exactOptional(),
  mapType: z.enum(["atomic", "granular"]).exactOptional(),
  maxProperties: z.int().min(0).exactOptional(),
  default: z.json().exactOptional(),
});

/**
 * Properties of a schema that Kubernetes has and zod does not: `.meta({ kubernetes: { ... } })`.
 *
 * - `cel`: rules that the API server checks, also across fields and against the old object.
 * - `preserveUnknownFields`: nothing is pruned here. `z.unknown()` has no structural form without it.
 * - `listType`, `listMapKeys`, `mapType`: how server-side apply merges.
 * - `default`: a value that only the API server fills in. `.default()` also fills it into what the schema parses, such as a
 *   manifest that is generated, whose next apply would set it again.
 * - `maxProperties`: limits the size of a record, so that rules about its values are cheap enough.
 */
export type KubernetesMeta = z.infer<typeof kubernetesMeta>;

declare module "zod" {
  interface GlobalMeta {
    kubernetes?: KubernetesMeta;
  }
}

/**
 * A value that cannot be changed: `.meta({ kubernetes: immutable })`. Kubernetes compares only a value that exists
 * before *and* after a change, so use it on a field that is required or has a default. An optional field can still be
 * added and removed.
 */
export const immutable: KubernetesMeta = {
  cel: [{ rule: "self == oldSelf", message: "cannot be changed; delete the object and create it again" }],
};

/** Parses an author's `.meta({ kubernetes })`. If it is not valid, it is refused at its place. */
export function kubernetesMetaOf(schema: z.core.$ZodType, place: Place): KubernetesMeta {
  const parsed = kubernetesMeta.safeParse(z.globalRegistry.get(schema)?.["kubernetes"] ?? {});
  if (parsed.success) return parsed.data;
  place.refuse(`.meta({ kubernetes }) is not valid: ${z.prettifyError(parsed.error).replaceAll("\n", " ")}`);
  return {};
}

/** Why a form cannot have the given properties; undefined if it can. */
export function metaProblem(form: StructuralSchema, meta: KubernetesMeta): string | undefined {
  const { listType, listMapKeys, mapType, maxProperties, preserveUnknownFields } = meta;
  if ((listType ?? listMapKeys) !== undefined && form.type !== "array")
    return "only a list has listType or listMapKeys";
  if ((mapType ?? maxProperties) !== undefined && form.type !== "object") {
    return "only an object has mapType or maxProperties";
  }
  if (preserveUnknownFields === true && form.type !== undefined && form.type !== "object") {
    return "only an object or z.unknown() has preserveUnknownFields";
  }
  if (listType === "map" || listMapKeys !== undefined) return listMapProblem(form, meta);
  if (listType === "set" && !isComparable(form.items)) {
    return 'listType "set" needs items that are scalars, or atomic lists or objects; use listType "map" with listMapKeys';
  }
  return undefined;
}

function listMapProblem(
  { items }: StructuralSchema,
  { listType, listMapKeys = [] }: KubernetesMeta,
): string | undefined {
  if (listType !== "map") return 'listMapKeys belongs to listType "map"; add it';
  if (listMapKeys.length === 0 || items?.type !== "object") {
    return 'listType "map" needs items that are objects, and listMapKeys with the fields that distinguish them';
  }
  const unfit = listMapKeys.find((key) => {
    const field = items.properties?.[key];
    const always = items.required?.includes(key) === true || field?.default !== undefined;
    return field === undefined || !always || field.type === "object" || field.type === "array";
  });
  return unfit === undefined
    ? undefined
    : `the list map key ${JSON.stringify(unfit)} must be a scalar field of the items that is required or has a default`;
}

function isComparable(items: StructuralSchema | undefined): boolean {
  if (items?.type === "object") return items["x-kubernetes-map-type"] === "atomic";
  if (items?.type === "array") return items["x-kubernetes-list-type"] === "atomic";
  return true;
}
