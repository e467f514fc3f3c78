import { meant } from "@drover/controller";
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { z } from "zod";

/** The process's environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that is wrong with a process's settings, one line each; each line says what to do. */
export class InvalidSettingsError extends Error {
  override readonly name = "InvalidSettingsError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

const prefix = "DROVER_";

/**
 * Settings from the environment: each field of `schema` from the variable `DROVER_` + its name in capitals, so
 * `redisUrl` is read from `DROVER_REDIS_URL`. A variable that starts with `DROVER_` and is not known is refused, with
 * the one that was probably meant.
 *
 * @throws InvalidSettingsError listing all problems at once.
 */
export function readSettings<Schema extends z.ZodObject>(schema: Schema, env: Environment): z.output<Schema> {
  const fields = new Map(Object.keys(schema.shape).map((field) => [variableOf(field), field]));
  const unknown = Object.keys(env)
    .filter((variable) => variable.startsWith(prefix) && !fields.has(variable))
    .map(
      (variable) => `${variable} is not a setting of this process. ${meant(variable, [...fields.keys()])}`,
    );
  const given = [...fields].flatMap(([variable, field]) => {
    const value = env[variable];
    return value === undefined || value === "" ? [] : [[field, value] as const];
  });
  const parsed = schema.safeParse(Object.fromEntries(given));
  const wrong = parsed.success ? [] : parsed.error.issues.map((issue) => explain(issue, env));
  if (!parsed.success || unknown.length > 0) throw new InvalidSettingsError([...unknown, ...wrong]);
  return parsed.data;
}

/** A whole number in a range, as text in the environment. */
export const wholeNumber = ({ least, most }: { least: number; most: number }) =>
  z
    .string()
    .transform((text) => (/^-?\d+$/.test(text) ? Number(text) : NaN))
    .refine((value) => value >= least && value <= most, {
      error: `give a whole number from ${least} to ${most}`,
    });

/**
 * A path to a file that holds one secret, as text in the environment; its content, without a last line break.
 * A file that others than its owner and group may read is refused: a secret that everybody reads is none.
 */
export const secretFile = z.string().transform((path, context) => {
  const problem = secretProblem(path);
  if (problem === undefined) return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  context.addIssue({ code: "custom", message: problem });
  return z.NEVER;
});

/** A path to a file of certificates, as text in the environment; its content, PEM. */
export const certificatesFile = z.string().transform((path, context) => {
  const problem = certificatesProblem(path);
  if (problem === undefined) return readFileSync(path, "utf8");
  context.addIssue({ code: "custom", message: problem });
  return z.NEVER;
});

function certificatesProblem(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isFile() !== true) return `${path} is not a file. Give one with certificates, as PEM.`;
  const blocks = readFileSync(path, "utf8").match(
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
  );
  if (blocks === null) return `${path} has no certificate in it. Give one with certificates, as PEM.`;
  const isRight = blocks.every((block) => {
    try {
      new X509Certificate(block);
      return true;
    } catch {
      return false;
    }
  });
  return isRight
    ? undefined
    : `${path} has a certificate that cannot be read. Give one with certificates, as PEM.`;
}

function secretProblem(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined)
    return `the file ${path} does not exist. Create it, with the secret as its only line.`;
  if (!file.isFile()) return `${path} is not a file.`;
  if ((file.mode & 0o007) !== 0) return `everybody on this machine may read ${path}. Run: chmod 600 ${path}`;
  return undefined;
}

/** The variable that a field is read from: `redisUrl` -> `DROVER_REDIS_URL`. */
const variableOf = (field: string): string => prefix + field.replace(/[A-Z]/g, "_$&").toUpperCase();

function explain(issue: z.core.$ZodIssue, env: Environment): string {
  const variable = variableOf(String(issue.path[0] ?? ""));
  return env[variable] === undefined || env[variable] === ""
    ? `${variable} is not set. Set it.`
    : `${variable}=${JSON.stringify(env[variable])} cannot be used: ${issue.message}`;
}
