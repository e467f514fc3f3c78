/**
 * The path of a value in an object, as declarations write it: names with dots between them, and `[]` after a list for
 * each of its items: `spec.secretRef.name`, `spec.volumes[].secret.secretName`. A name that contains dots is quoted:
 * `metadata.labels["app.kubernetes.io/name"]`.
 */
export interface FieldPath {
  readonly text: string;
  readonly steps: readonly (string | typeof eachItem)[];
}

const eachItem = Symbol("each item");

/** A field path that cannot be parsed. */
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
        `${JSON.stringify(text)} is not a field path at ${JSON.stringify(rest)}: write names with dots between them, such as ` +
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

/** True if the path can be followed in an object of which only metadata was requested. */
export const isInMetadata = ({ steps }: FieldPath): boolean =>
  steps[0] === "metadata" || steps[0] === "apiVersion" || steps[0] === "kind";

/** The values at a path: none if a part of the path is missing, several if it leads through lists. */
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
