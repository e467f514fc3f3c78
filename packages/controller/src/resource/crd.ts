import { InvalidResourceError, type PrinterColumn, type Resource, type ScalePaths } from "./resource.ts";
import { structuralStatusSchema } from "./status-schema.ts";
import { structuralSchema } from "../structural/from-zod.ts";
import { InvalidSchemaError } from "../structural/invalid-schema.ts";
import type { SchemaProblem } from "../structural/place.ts";
import { omitUndefined } from "../structural/omit-undefined.ts";
import type { StructuralSchema } from "../structural/schema.ts";

/** The part of a CustomResourceDefinition that Drover uses: one version, served and stored. Plain JSON. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly plural: string;
      readonly singular: string;
      readonly kind: string;
      readonly listKind: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly [CustomResourceVersion];
  };
}

export interface CustomResourceVersion {
  readonly name: string;
  readonly served: true;
  readonly storage: true;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources: { readonly status: Readonly<Record<string, never>>; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns: readonly PrinterColumn[];
}

/**
 * The CustomResourceDefinition of a resource: its zod schemas in structural form.
 *
 * @throws InvalidResourceError if the kind is defined elsewhere; InvalidSchemaError if a CRD cannot express a schema,
 *   with each path and what to write instead.
 */
export function customResourceDefinition(resource: Resource): CustomResourceDefinition {
  const { group, version, kind, scope, plural, singular, shortNames, categories } = resource;
  if (resource.foreign)
    throw new InvalidResourceError(kind, "it is defined by others; install their definition.");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        plural,
        singular,
        kind,
        listKind: `${kind}List`,
        ...omitUndefined({ shortNames, categories }),
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: objectSchema(resource) },
          subresources: { status: {}, ...omitUndefined({ scale: resource.scale }) },
          additionalPrinterColumns: printerColumns(resource.printerColumns ?? []),
        },
      ],
    },
  };
}

function objectSchema({ kind, description, spec, status }: Resource): StructuralSchema {
  const problems: SchemaProblem[] = [];
  const properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: structuralSchema(spec, "spec", problems),
    status: structuralStatusSchema(status, "status", problems),
  } as const;
  if (problems.length > 0) throw new InvalidSchemaError(kind, problems);
  return { type: "object", ...omitUndefined({ description }), properties, required: ["spec"] };
}

/** Added after the author's columns, except a column with a name that the author has used. */
const standardColumns: readonly PrinterColumn[] = [
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

function printerColumns(own: readonly PrinterColumn[]): readonly PrinterColumn[] {
  const named = new Set(own.map(({ name }) => name.toLowerCase()));
  return [...own, ...standardColumns.filter(({ name }) => !named.has(name.toLowerCase()))];
}
