/**
 * Where a value is in an object, as a declaration writes it: names with dots between, `[]` behind a list for each of its
 * items: `spec.secretRef.name`, `spec.volumes[].secret.secretName`. A name that has dots itself stands in quotes:
 * `metadata.labels["app.kubernetes.io/name"]`.
 */
export interface FieldPath {
  readonly text: string;
  readonly steps: readonly (string | typeof eachItem)[];
}

const eachItem = Symbol("each item");

/** A path that cannot be read. */
export class InvalidFieldPathError extends Error {
  override readonly name = "InvalidFieldPathError";
}

const nextStep = /^(?:\.?([A-Za-z_$][\w$-]*)|\["([^"\]]+)"\]|(\[\]))/;

/** @throws InvalidFieldPathError */
export function parseFieldPath(text: string): FieldPath {
  const steps: (string | typeof eachItem)[] = [];
  let rest = text;
  while (rest !== "") {
    const [found = "", name, quoted, items] = nextStep.exec(rest) ?? [];
    if (found === "" || (steps.length === 0 && (items !== undefined || found.startsWith(".")))) {
      throw new InvalidFieldPathError(
        `${JSON.stringify(text)} is no field path at ${JSON.stringify(rest)}: write names with dots between, such as ` +
          `spec.secretRef.name, or spec.volumes[].secret.secretName.`,
      );
    }
    steps.push(items === undefined ? (name ?? quoted ?? "") : eachItem);
    rest = rest.slice(found.length);
  }
  if (steps.length === 0)
    throw new InvalidFieldPathError("A field path is empty. Give one such as spec.size.");
  return { text, steps };
}

/** Whether the path can be followed in an object of which only metadata was asked for. */
export const isOfMetadata = ({ steps }: FieldPath): boolean =>
  steps[0] === "metadata" || steps[0] === "apiVersion" || steps[0] === "kind";

/** The values at a path: none where a part of the way is missing, several where it goes through lists. */
export function valuesAt(object: unknown, { steps }: FieldPath): readonly unknown[] {
  let found: readonly unknown[] = [object];
  for (const step of steps) {
    found = found.flatMap((value) => {
      if (step === eachItem) return Array.isArray(value) ? value.map((item: unknown) => item) : [];
      const field = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
      return field === undefined || field === null ? [] : [field];
    });
  }
  return found;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
