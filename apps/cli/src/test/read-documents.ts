import { messageOf, suggest } from "@drover/controller";
import { exactYaml } from "@drover/json";
import { readFileSync } from "node:fs";
import { type Document, LineCounter, parseAllDocuments } from "yaml";
import { z } from "zod";
import { CommandError } from "../command-error.ts";

/** A path in a document, such as `["steps", 1, "apply"]`. */
export type Path = readonly PropertyKey[];

/** One document of a YAML file, with errors that name the file and the line. */
export interface ReadDocument {
  readonly value: unknown;
  /**
   * The value at a path, as a schema has it.
   * @throws CommandError
   */
  checked<Schema extends z.ZodType>(schema: Schema, value: unknown, path?: Path): z.output<Schema>;
  /** The error for the value at a path. */
  problem(path: Path, message: string): CommandError;
  /** `FILE:LINE` of the value at a path. */
  place(path: Path): string;
}

/**
 * Reads the documents of a YAML file.
 *
 * @param name of the file in messages.
 * @param from `FILE:LINE` where it is named.
 * @throws CommandError if there is no such file, it is not YAML, or it is empty.
 */
export function readDocuments(file: string, name: string, from?: string): readonly ReadDocument[] {
  const lineCounter = new LineCounter();
  const place = (offset: number): string => `${name}:${lineCounter.linePos(offset).line}`;
  const options = { ...exactYaml.options, lineCounter, prettyErrors: false };
  const documents: readonly Document.Parsed[] = [...parseAllDocuments(textOf(file, name, from), options)];
  for (const { pos, message } of documents.flatMap(({ errors }) => errors))
    throw new CommandError(`${place(pos[0])}: this is not YAML: ${message}`);
  const found = documents
    .map((document) => ({ document, value: valueOf(document, name) }))
    .filter(({ value }) => value !== null);
  if (found.length > 0) return found.map(({ document, value }) => readDocument(document, value, place));
  throw new CommandError(`${name} is empty. docs/testing.md shows what to write.`);
}

function textOf(file: string, name: string, from: string | undefined): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const where = from === undefined ? "" : `${from}: `;
    throw new CommandError(`${where}${name} cannot be read. Correct its path.`, { cause });
  }
}

/** An alias may name no anchor, one around it, or so many values that they fill the memory. */
function valueOf(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS(exactYaml);
  } catch (cause) {
    throw new CommandError(`${name}: an alias cannot be resolved: ${messageOf(cause)}`, { cause });
  }
}

function readDocument(
  document: Document.Parsed,
  value: unknown,
  placeOf: (offset: number) => string,
): ReadDocument {
  const place = (path: Path): string => placeOf(offsetOf(document, path));
  const problem = (path: Path, message: string): CommandError => {
    const at = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
    return new CommandError(`${place(path)}: ${at === "" ? "" : `${at.slice(1)}: `}${message}`);
  };
  return {
    value,
    place,
    problem,
    checked(schema, value, path = []) {
      const { success, data, error } = schema.safeParse(value);
      if (success) return data;
      const [issue] = error.issues;
      const field = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
      const message = (issue?.message ?? error.message).replace(
        /^Invalid input: (.*), received undefined$/,
        "is missing: $1",
      );
      throw problem([...path, ...(issue?.path ?? []), ...field], message);
    },
  };
}

const nodeSchema = z.looseObject({ range: z.tuple([z.number()], z.number()) });

/** The offset of the value at a path, or of the nearest one around it. */
function offsetOf(document: Document.Parsed, path: Path): number {
  const node = nodeSchema.safeParse(path.length === 0 ? document.contents : document.getIn(path, true));
  if (node.success) return node.data.range[0];
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1));
}

/** An object that has these fields and no others. The error for another field suggests the most similar one. */
export const strictObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `there is no such field. ${suggest(issue.keys[0] ?? "", Object.keys(shape))}`
        : undefined,
  });
