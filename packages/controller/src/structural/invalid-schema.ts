import type { SchemaProblem } from "./place.ts";

/** Schemas that a CustomResourceDefinition cannot express. The message lists every path and what to write there. */
export class InvalidSchemaError extends Error {
  override readonly name = "InvalidSchemaError";
  readonly problems: readonly SchemaProblem[];
  constructor(kind: string, problems: readonly SchemaProblem[]) {
    const lines = problems.map(({ path, problem }) => `${path}: ${problem}`);
    super(
      `Resource ${JSON.stringify(kind)}: ${lines.length > 1 ? `\n  ${lines.join("\n  ")}` : lines.join("")}`,
    );
    this.problems = problems;
  }
}
