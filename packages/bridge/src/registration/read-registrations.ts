import { suggest, objectKey, ReconcileFunction, queueDisplayName } from "@drover/controller";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { InvalidRegistrationError } from "./invalid-registration.ts";
import { type Registration, registrationOf } from "./registration.ts";

const manifest = z.strictObject({
  apiVersion: z.literal(ReconcileFunction.apiVersion),
  kind: z.literal(ReconcileFunction.kind),
  metadata: z.looseObject({ name: z.string().transform((name) => objectKey({ name })) }),
  spec: ReconcileFunction.spec,
  status: z.unknown().optional(),
});
const fields = [
  "apiVersion",
  "kind",
  "metadata",
  "spec",
  "status",
  ...Object.keys(ReconcileFunction.spec.shape),
];
const hookFields = [
  ...["name", "verify", "id", "names", "standardWebhooks", "hmac", "bearer", "secretRef", "key", "header"],
  ...["algorithm", "prefix", "encoding", "field", "namespace", "acrossNamespaces"],
];
const watchedFields = Object.keys(ReconcileFunction.spec.shape.for.shape);

/**
 * The controllers that a file, or every `.yaml` and `.yml` file of a folder, registers.
 * @throws InvalidRegistrationError also when two files register the same controller: they would share one queue.
 */
export function readRegistrations(path: string): readonly Registration[] {
  const found = new Map<string, { registration: Registration; file: string }>();
  for (const file of manifestFiles(path)) {
    for (const registration of registrationsIn(file)) {
      const earlier = found.get(registration.controller);
      if (earlier !== undefined) {
        throw registrationError(
          file,
          `the controller ${queueDisplayName(registration.controller)} is registered in ${earlier.file} already. Rename or remove one.`,
        );
      }
      found.set(registration.controller, { registration, file });
    }
  }
  if (found.size === 0)
    throw registrationError(path, "no ReconcileFunction in it. Give a file that has one.");
  return [...found.values()].map(({ registration }) => registration);
}

function manifestFiles(path: string): readonly string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw registrationError(path, "there is no such file or folder.");
  if (!stat.isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

function registrationsIn(file: string): readonly Registration[] {
  return parseAllDocuments(readFileSync(file, "utf8")).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw registrationError(file, `not YAML: ${error.message}`);
    const object: unknown = document.toJS({ maxAliasCount: 100 });
    return isOther(object) ? [] : [registrationIn(file, object)];
  });
}

/** A folder of manifests may hold other kinds too, such as the CRD. */
const otherSchema = z.object({ kind: z.string().refine((kind) => kind !== ReconcileFunction.kind) });
const isOther = (object: unknown): boolean => object === null || otherSchema.safeParse(object).success;

function registrationIn(file: string, object: unknown): Registration {
  const parsed = manifest.safeParse(object);
  if (!parsed.success) throw registrationError(file, parsed.error.issues.map(explain).join("; "));
  const { metadata, spec } = parsed.data;
  try {
    return registrationOf({ name: metadata.name }, spec);
  } catch (error) {
    throw error instanceof InvalidRegistrationError ? registrationError(file, error.message) : error;
  }
}

const registrationError = (where: string, problem: string): InvalidRegistrationError =>
  new InvalidRegistrationError(`${where}: ${problem}`);

function explain(issue: z.core.$ZodIssue): string {
  const path = issue.path.join(".");
  if (issue.code !== "unrecognized_keys") return `${path}: ${issue.message}`;
  const known = knownAt(path);
  return issue.keys
    .map((key) => `${[...issue.path, key].join(".")} is not known. ${suggest(key, known)}`)
    .join(" ");
}

function knownAt(path: string): readonly string[] {
  if (path.startsWith("spec.hooks")) return hookFields;
  return /^spec\.(for|owns|watches)/.test(path) ? [...watchedFields, "names"] : fields;
}
