import { ReconcileFunction, type ReconcileFunctionSpec } from "@drover/controller";
import { exactYaml } from "@drover/json";
import type { NewObject } from "@drover/kube";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { CommandError } from "../command-error.ts";

/** The manifests of a folder. */
export interface Manifests {
  readonly crds: readonly NewObject[];
  readonly functions: readonly FunctionManifest[];
}

export interface FunctionManifest {
  readonly metadata: NewObject["metadata"];
  readonly spec: ReconcileFunctionSpec;
}

const named = z.looseObject({
  name: z.string().min(1),
  namespace: z.string().min(1).exactOptional(),
  labels: z.record(z.string(), z.string()).exactOptional(),
  annotations: z.record(z.string(), z.string()).exactOptional(),
});
const crdSchema = z.looseObject({
  apiVersion: z.literal("apiextensions.k8s.io/v1"),
  kind: z.literal("CustomResourceDefinition"),
  metadata: named,
});
const functionSchema = z.strictObject({
  apiVersion: z.literal(ReconcileFunction.apiVersion),
  kind: z.literal(ReconcileFunction.kind),
  metadata: named,
  spec: ReconcileFunction.spec,
});
const anySchema = z.looseObject({ kind: z.string() });

/**
 * Reads a folder of manifests: CRDs and ReconcileFunctions.
 * @throws CommandError naming the file and the remedy.
 */
export function readManifests(folder: string): Manifests {
  const crds: NewObject[] = [];
  const functions: FunctionManifest[] = [];
  for (const file of yamlFilesIn(folder)) {
    for (const document of documentsOf(file)) {
      const kind = anySchema.safeParse(document).data?.kind;
      if (kind === "CustomResourceDefinition") crds.push(parsed(crdSchema, document, file));
      else if (kind === ReconcileFunction.kind) functions.push(parsed(functionSchema, document, file));
      else {
        throw new CommandError(
          `${file} has ${kind === undefined ? "no Kubernetes object" : `a ${kind}`}: drover deploy applies only ` +
            "CRDs and ReconcileFunctions. Move it elsewhere, and apply it with kubectl.",
        );
      }
    }
  }
  if (functions.length > 0) return { crds, functions };
  throw new CommandError(`There is no ReconcileFunction in ${folder}. Run: npx drover generate`);
}

function yamlFilesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
    return names.sort().map((name) => join(folder, name));
  } catch (cause) {
    throw new CommandError(
      `There is no folder ${folder}. Run \`npx drover generate\` first, or name it with --dir.`,
      { cause },
    );
  }
}

function documentsOf(file: string): readonly unknown[] {
  const documents = parseAllDocuments(readFileSync(file, "utf8"), exactYaml.options).map(
    (document): unknown => {
      const [error] = document.errors;
      if (error !== undefined)
        throw new CommandError(`${file} is not YAML: ${error.message}`, { cause: error });
      const value: unknown = document.toJS(exactYaml);
      return value;
    },
  );
  // Like kubectl, skip a document without content, such as one after a trailing ---.
  return documents.filter((document) => document !== null);
}

function parsed<Schema extends z.ZodType>(schema: Schema, document: unknown, file: string): z.output<Schema> {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  throw new CommandError(`${file} cannot be used:\n${z.prettifyError(result.error)}`, {
    cause: result.error,
  });
}
