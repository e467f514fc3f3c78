import { durationSchema, suggest, messageOf, parseDuration } from "@drover/controller";
import { SecretError } from "@drover/kube";
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { z } from "zod";

/** Environment variables, as in `process.env`. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** All problems of a process's settings, one line each; each line has the remedy. */
export class InvalidSettingsError extends Error {
  override readonly name = "InvalidSettingsError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

const prefix = "DROVER_";

/** Fields with values that may be shown. */
const nonSecretFields = new WeakSet<z.ZodType>();

/**
 * Marks a field of settings as plain: its value is not a secret, and is shown if it cannot be used. For all other
 * fields, neither the value is shown nor a message that repeats part of it. Wrap the complete field, including
 * `.default()`.
 */
export function nonSecret<Field extends z.ZodType>(field: Field): Field {
  nonSecretFields.add(field);
  return field;
}

/** Fields that another field replaces, and their values then. */
const replacedFields = new WeakMap<z.ZodType, { readonly other: string; readonly value: string }>();

/** Marks a field that must not be set if another one is. It has `value` then, which it must accept. */
export function replacedBy<Field extends z.ZodType>(field: Field, other: string, value: string): Field {
  replacedFields.set(field, { other, value });
  return field;
}

/**
 * For a field's own checks: a problem with a message that may be shown, although it depends on a value that may not.
 */
export const nonSecretProblem = (message: string) =>
  ({ code: "custom", message, params: { shown: true } }) as const;

/**
 * Reads settings from the environment: each field of `schema` from the variable `DROVER_` + its name in capitals, so
 * `redisUrl` is read from `DROVER_REDIS_URL`. An unknown variable that starts with `DROVER_` is refused, and the error
 * suggests the most similar known one.
 *
 * @throws InvalidSettingsError listing all problems at once.
 */
export function readSettings<Schema extends z.ZodObject>(
  schema: Schema,
  env: EnvironmentVariables,
): z.output<Schema> {
  const fields = new Map(Object.keys(schema.shape).map((field) => [variableOf(field), field]));
  const unknown = Object.keys(env)
    .filter((variable) => variable.startsWith(prefix) && !fields.has(variable))
    .map(
      (variable) => `${variable} is not a setting of this process. ${suggest(variable, [...fields.keys()])}`,
    );
  const isSet = (variable: string): boolean => (env[variable] ?? "") !== "";
  const contradictory: string[] = [];
  const given = [...fields].flatMap(([variable, field]) => {
    const replaced = replacedFields.get(schema.shape[field] as z.ZodType);
    const other = replaced && variableOf(replaced.other);
    if (other === undefined || !isSet(other)) return isSet(variable) ? [[field, env[variable]]] : [];
    if (isSet(variable)) contradictory.push(`${variable} cannot be used with ${other}. Leave one out.`);
    return [[field, replaced?.value]];
  });
  const parsed = parsedOrProblems(schema, Object.fromEntries(given) as Values);
  const problems = [...unknown, ...contradictory, ...("problems" in parsed ? parsed.problems : [])];
  if ("data" in parsed && problems.length === 0) return parsed.data;
  throw new InvalidSettingsError(problems);
}

type Values = Readonly<Record<string, string>>;

function parsedOrProblems<Schema extends z.ZodObject>(
  schema: Schema,
  values: Values,
): { readonly data: z.output<Schema> } | { readonly problems: readonly string[] } {
  try {
    const { data, error } = schema.safeParse(values);
    return error === undefined ? { data } : { problems: explainIssues(error.issues, schema, values) };
  } catch (error) {
    // A check threw. Its error may contain the value: JSON.parse shows its input.
    const fields: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    const thrower = Object.entries(values).find(([field, value]) => throws(fields[field], value));
    const what = error instanceof Error ? error.name : "an error";
    return { problems: [`${variableOf(thrower?.[0] ?? "")} cannot be used: its check threw ${what}.`] };
  }
}

function throws(field: z.core.$ZodType | undefined, value: string): boolean {
  try {
    if (field !== undefined) z.safeParse(field, value);
    return false;
  } catch {
    return true;
  }
}

/**
 * One line for each issue. If its field is not plain, its message is shown only if it is marked as shown, or if it does
 * not depend on the value: a decoy value gives the same message.
 */
function explainIssues(issues: readonly Issue[], schema: z.ZodObject, values: Values): readonly string[] {
  const isNonSecret = (field: string): boolean => nonSecretFields.has(schema.shape[field] as z.ZodType);
  const decoys = Object.entries(values).map(([field, value]) => [
    field,
    isNonSecret(field) ? value : decoyFor(value),
  ]);
  const ofDecoys = new Set(issuesOf(schema, Object.fromEntries(decoys)).map(issueKey));
  return issues.map((issue) => {
    const field = String(issue.path[0] ?? "");
    const value = values[field];
    const variable = variableOf(field);
    if (issue.path.length > 0 && value === undefined) return `${variable} is not set. Set it.`;
    if (isNonSecret(field)) return `${variable}=${JSON.stringify(value)} cannot be used: ${issue.message}`;
    const isShown =
      (issue.code === "custom" && issue.params?.["shown"] === true) || ofDecoys.has(issueKey(issue));
    return `${variable} cannot be used: ${isShown ? issue.message : "the problem is not shown, because it would reveal the value."}`;
  });
}

type Issue = z.core.$ZodIssue;
const issueKey = ({ path, message }: Issue): string => JSON.stringify([path, message]);

function issuesOf(schema: z.ZodObject, values: unknown): readonly Issue[] {
  try {
    return schema.safeParse(values).error?.issues ?? [];
  } catch {
    return [];
  }
}

/** A text of the same form, with each letter and digit replaced by another one. */
const decoyFor = (text: string): string =>
  text.replace(/[\p{L}\p{N}]/gu, (letter) => {
    const unit = letter.charCodeAt(0);
    if (/[0-9]/.test(letter)) return String((unit - 48 + 1) % 10);
    if (/[a-z]/.test(letter)) return String.fromCharCode(((unit - 97 + 1) % 26) + 97);
    return letter === "X" ? "Y" : "X";
  });

/** The words of a text, separated by blanks or commas. */
export const splitWords = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((word) => word !== "");

/**
 * Parses text in the environment with a parser that throws. The message of its error becomes the problem, and should
 * have the remedy.
 */
export const parseWith =
  <Value>(parse: (text: string) => Value) =>
  (text: string, context: z.RefinementCtx): Value => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: messageOf(error) });
      return z.NEVER;
    }
  };

/** `true` or `false`, as text in the environment. Default: `false`. */
export const flag = nonSecret(
  z
    .enum(["true", "false"], { error: "give true or false" })
    .transform((text) => text === "true")
    .default(false),
);

/** A duration with its unit, such as `30s`, as text in the environment; parsed to milliseconds. */
export const durationInMs = durationSchema.transform(parseDuration);

/** An integer in a range, as text in the environment. */
export const wholeNumber = ({ least, most }: { least: number; most: number }) =>
  z
    .string()
    .transform((text) => (/^-?\d+$/.test(text) ? Number(text) : NaN))
    .refine((value) => value >= least && value <= most, {
      error: `give a whole number from ${least} to ${most}`,
    });

/**
 * The content of a file that contains one secret, without a last line break. A file that users other than its owner and
 * group may read is refused.
 * @throws SecretError
 */
export function readSecretFile(path: string): string {
  const problem = secretProblem(path);
  if (problem !== undefined) throw new SecretError(problem);
  return readFileSync(path, "utf8").replace(/\r?\n$/, "");
}

/** A path to a file that contains one secret, as text in the environment; parsed as `readSecretFile` reads it. */
export const secretFile = z.string().transform((path, context) => {
  const problem = secretProblem(path);
  if (problem === undefined) return readSecretFile(path);
  context.addIssue(nonSecretProblem(problem));
  return z.NEVER;
});

/** A path to a file of certificates, as text in the environment; parsed to its content, PEM. */
export const certificatesFile = z.string().transform((path, context) => {
  const problem = certificatesProblem(path);
  if (problem === undefined) return readFileSync(path, "utf8");
  context.addIssue(nonSecretProblem(problem));
  return z.NEVER;
});

const isPath = (text: string): boolean => /^\.{0,2}\//.test(text);

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
  if (file === undefined) {
    // The text may be the secret itself, so it is not shown.
    return isPath(path)
      ? `the file ${path} does not exist. Create it, with the secret as its only line.`
      : "there is no file of that name. Give the absolute path of one with the secret as its only line.";
  }
  if (!file.isFile()) return `${path} is not a file.`;
  if ((file.mode & 0o007) !== 0) return `every user on this machine may read ${path}. Run: chmod 600 ${path}`;
  return undefined;
}

/** The variable that a field is read from: `redisUrl` -> `DROVER_REDIS_URL`. */
export const variableOf = (field: string): string => prefix + field.replace(/[A-Z]/g, "_$&").toUpperCase();
