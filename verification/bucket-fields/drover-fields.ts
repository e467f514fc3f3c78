import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: Schema | undefined;
}
const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    properties: z.record(z.string(), schema).optional(),
    items: schema.optional(),
  }),
);
const definition = z.object({
  spec: z.object({
    versions: z.tuple([z.object({ schema: z.object({ openAPIV3Schema: schema }) })]),
  }),
});

/** The paths of the values in a schema. A map counts as one value. */
function leavesOf({ properties, items }: Schema, path: string): readonly string[] {
  if (items !== undefined) return leavesOf(items, `${path}[]`);
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, of]) =>
    leavesOf(of, path === "" ? name : `${path}.${name}`),
  );
}

const crd = new URL("../../functions/s3-bucket/deploy/crd.yaml", import.meta.url);
const [{ schema: version }] = definition.parse(parse(readFileSync(crd, "utf8"))).spec.versions;

/** The fields of a Bucket's spec, in the order of its schema. */
export const droverFields: readonly string[] = leavesOf(
  version.openAPIV3Schema.properties?.["spec"] ?? {},
  "",
);
