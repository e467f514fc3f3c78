import type { NewObject } from "@drover/kube";
import { z } from "zod";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: Schema | undefined;
  readonly additionalProperties?: Schema | boolean | undefined;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean | undefined;
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    properties: z.record(z.string(), schema).optional(),
    items: schema.optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
    "x-kubernetes-preserve-unknown-fields": z.boolean().optional(),
  }),
);
const crdSchema = z.looseObject({
  spec: z.looseObject({
    versions: z.array(
      z.looseObject({ name: z.string(), schema: z.looseObject({ openAPIV3Schema: schema }).optional() }),
    ),
  }),
});

/**
 * The fields that a CRD has, and the cluster's one lacks in the same version, as `spec.ports[].name`: the API server drops
 * them from objects. Of a field that is missing, those below it are left out. Empty if the version is missing.
 */
export function missingFields(wanted: NewObject, there: object, version: string): readonly string[] {
  const [one, other] = [wanted, there].map(
    (crd) =>
      crdSchema.safeParse(crd).data?.spec.versions.find(({ name }) => name === version)?.schema
        ?.openAPIV3Schema,
  );
  return one === undefined || other === undefined ? [] : missingBelow(one, other, "");
}

/** The API server keeps these, also if the schema does not have them. */
const ofEveryObject = ["apiVersion", "kind", "metadata"];

function missingBelow(wanted: Schema, there: Schema, path: string): readonly string[] {
  const keepsUnknown = there["x-kubernetes-preserve-unknown-fields"] === true;
  const below = (one: Schema | boolean | undefined, other: Schema | boolean | undefined, at: string) => {
    if (typeof one !== "object") return [];
    if (typeof other === "object") return missingBelow(one, other, at);
    return keepsUnknown || other === true ? [] : [at];
  };
  const names = Object.entries(wanted.properties ?? {}).filter(
    ([name]) => path !== "" || !ofEveryObject.includes(name),
  );
  return [
    ...names.flatMap(([name, one]) =>
      below(one, there.properties?.[name], path === "" ? name : `${path}.${name}`),
    ),
    // An array or a map in place of something else is refused, not dropped.
    ...(there.items === undefined ? [] : below(wanted.items, there.items, `${path}[]`)),
    ...(there.additionalProperties === undefined
      ? []
      : below(wanted.additionalProperties, there.additionalProperties, `${path}.*`)),
  ];
}
