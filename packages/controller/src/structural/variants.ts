import type { z } from "zod";
import { writeJson } from "@drover/json";
import { type Place, refused } from "./place.ts";
import { omitUndefined } from "./omit-undefined.ts";
import type { NestedValidation, StructuralSchema } from "./schema.ts";

interface Variant {
  readonly properties: Readonly<Record<string, StructuralSchema>>;
  readonly required: readonly string[];
  /** The schema of the discriminator field, with this variant's values. */
  readonly tag: StructuralSchema;
  readonly strict: boolean;
}

/**
 * Objects with a discriminator field: one object with the fields of all variants and, for each value of the
 * discriminator, a branch with the rules of its variant. A field has the same schema in all variants, because the API
 * server has only one for it.
 */
export function variantsForm(
  options: readonly z.core.$ZodType[],
  discriminator: string,
  place: Place,
): StructuralSchema {
  const variants = options.flatMap((option) => variantOf(option, discriminator, place) ?? []);
  const fields = mergedFields(variants, discriminator, place);
  const [first] = variants;
  if (first === undefined || variants.length < options.length || fields === undefined) return refused;
  if (variants.some(({ tag }) => tag.type !== first.tag.type)) {
    return place.refuse(`the values of ${JSON.stringify(discriminator)} are of several types; use strings`);
  }
  const tag = { ...first.tag, enum: variants.flatMap((variant) => variant.tag.enum ?? []) };
  const common = first.required.filter((name) => variants.every(({ required }) => required.includes(name)));
  const branches = variants.map((variant) => branchOf(variant, discriminator, common, Object.keys(fields)));
  const plain = branches.every((branch) => branch.required === undefined && branch.not === undefined);
  return {
    type: "object",
    properties: { [discriminator]: tag, ...fields },
    required: common,
    ...(!plain && { anyOf: branches }),
  };
}

function variantOf(option: z.core.$ZodType, discriminator: string, place: Place): Variant | undefined {
  const values = [...(option._zod.propValues?.[discriminator] ?? [])].map(String).join("|");
  const form = place.below(`(${discriminator}=${values})`, option);
  if (form === refused) return undefined;
  const tag = form.properties?.[discriminator];
  if (tag?.enum === undefined || form.properties === undefined || form.anyOf !== undefined) {
    place.refuse(
      "variants are plain objects side by side; write z.discriminatedUnion() without another one inside",
    );
    return undefined;
  }
  if (form["x-kubernetes-validations"] ?? form["x-kubernetes-preserve-unknown-fields"]) {
    place.refuse("a variant cannot have rules or unknown fields of its own; put the rules on the union");
    return undefined;
  }
  const catchall = "catchall" in option._zod.def ? option._zod.def.catchall : undefined;
  return { properties: form.properties, required: form.required ?? [], tag, strict: catchall !== undefined };
}

function mergedFields(
  variants: readonly Variant[],
  discriminator: string,
  place: Place,
): Readonly<Record<string, StructuralSchema>> | undefined {
  const fields = new Map<string, StructuralSchema>();
  const problems = new Set<string>();
  for (const [name, form] of variants.flatMap(({ properties }) => Object.entries(properties))) {
    if (name === discriminator) continue;
    const known = fields.get(name) ?? form;
    if (writeJson(known) !== writeJson(form)) {
      problems.add(
        `the field ${JSON.stringify(name)} differs between variants; give it one schema, or two names`,
      );
    }
    if (form.default !== undefined && !variants.every(({ properties }) => Object.hasOwn(properties, name))) {
      problems.add(
        `the default of ${JSON.stringify(name)} would be set in every variant; make it .optional()`,
      );
    }
    fields.set(name, known);
  }
  problems.forEach((problem) => place.refuse(problem));
  return problems.size > 0 ? undefined : Object.fromEntries(fields);
}

function branchOf(
  { tag, required, properties, strict }: Variant,
  discriminator: string,
  common: readonly string[],
  names: readonly string[],
): NestedValidation {
  const own = required.filter((name) => !common.includes(name));
  const foreign = strict ? names.filter((name) => !Object.hasOwn(properties, name)) : [];
  return omitUndefined({
    properties: { [discriminator]: omitUndefined({ enum: tag.enum }) },
    required: own.length > 0 ? own : undefined,
    not: foreign.length > 0 ? { anyOf: foreign.map((name) => ({ required: [name] })) } : undefined,
  });
}
