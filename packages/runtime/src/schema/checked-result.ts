import {
  conditionLimits,
  durationSchema,
  type ReconcileResult,
  type Resource,
  RetryError,
} from "@drover/controller";
import { isInt64, writeJson } from "@drover/json";
import { kubeObjectSchema } from "@drover/kube";
import { z } from "zod";
import { expandUnionIssues } from "./exact-integers.ts";
import { withLinearPatterns } from "./linear-patterns.ts";
import { partialStatus } from "./parse-object.ts";

const conditionSchema = z.strictObject({
  type: z
    .string()
    .max(conditionLimits.type.maxLength)
    .regex(new RegExp(conditionLimits.type.pattern), "Give a CamelCase word such as Ready."),
  status: z.enum(["True", "False", "Unknown"]),
  // The status writer adapts reason and message to the limits of a condition.
  reason: z.string(),
  message: z.string(),
});

const resultSchema = z.strictObject({
  status: z.unknown().optional(),
  conditions: z
    .array(conditionSchema)
    .refine((all) => new Set(all.map(({ type }) => type)).size === all.length, "Give each type once.")
    .optional(),
  requeueAfter: durationSchema.optional(),
  account: z.string().min(1).optional(),
  failure: z.instanceof(Error).optional(),
  object: kubeObjectSchema.optional(),
  hasSeenOwnWrites: z.literal(true).optional(),
});

/** Fields of a status that only the runtime writes, with the reason to report. */
const runtimeOwnedFields: Readonly<Record<string, string>> = {
  conditions: "return conditions next to status, not in it",
  observedGeneration: "the runtime writes it",
};

/**
 * Checks the result of a reconcile before any of it is written: TypeScript accepts NaN as a number, and JavaScript code
 * may return anything. The status is the output of the kind's own schema.
 *
 * @throws RetryError `InvalidResult`, with the path of each value that cannot be written, five at most. It is retried
 * with backoff, because otherwise a corrected function would not reconcile the object again.
 */
export function checkedResult<R extends Resource>(resource: R, returned: unknown): ReconcileResult<R> {
  const result = withLinearPatterns(resultSchema).safeParse(returned ?? {});
  const problems = result.success ? [] : problemsOf(result.error, []);
  const given = result.data?.status;
  const status = given === undefined ? undefined : checkedStatus(resource, given);
  problems.push(...(status?.problems ?? []));
  if (problems.length > 0) {
    throw new RetryError(
      `What reconcile returned cannot be written: ${problems.slice(0, 5).join("; ")}. Correct what it returns.`,
      { reason: "InvalidResult" },
    );
  }
  // The schemas are R's own, but TypeScript does not follow a generic through safeParse.
  return { ...result.data, ...(status && { status: status.fields }) } as ReconcileResult<R>;
}

function checkedStatus(
  resource: Resource,
  given: unknown,
): { readonly fields: unknown; readonly problems: readonly string[] } {
  const unwritable = jsonProblem(given, ["status"], []);
  if (unwritable !== undefined) return { fields: undefined, problems: [unwritable] };
  const parsed = partialStatus(resource).written.safeParse(given);
  if (!parsed.success) return { fields: undefined, problems: problemsOf(parsed.error, ["status"]) };
  const bytes = Buffer.byteLength(writeJson(parsed.data));
  if (bytes > maxStatusBytes) {
    return { fields: undefined, problems: [`status: it has more than ${maxStatusBytes} bytes`] };
  }
  return { fields: parsed.data, problems: unknownFields(given, parsed.data, ["status"]) };
}

/** etcd accepts objects of up to 1.5 MiB. For a larger one the API server answers 500, as for an internal error. */
const maxStatusBytes = 2 ** 20;

type Path = readonly PropertyKey[];

const at = (path: Path): string => path.map(String).join(".");

const problemsOf = (error: z.ZodError, path: Path): string[] =>
  expandUnionIssues(error.issues).map(
    (issue) => `${at([...path, ...issue.path]) || "the result"}: ${issue.message}`,
  );

const maxDepth = 100;

/** The value's path, and the reason why JSON cannot represent the value; undefined if it can. */
function jsonProblem(value: unknown, path: Path, inside: readonly object[]): string | undefined {
  const is = (what: string): string => `${at(path)}: ${what}`;
  if (typeof value === "object") return value === null ? undefined : objectJsonProblem(value, path, inside);
  if (typeof value === "string") {
    return value.isWellFormed() ? undefined : is("half of a surrogate pair is not Unicode text");
  }
  if (typeof value === "bigint") {
    return isInt64(value)
      ? undefined
      : is("it has more than 64 bits, and Kubernetes would round it; give text");
  }
  if (typeof value === "number") return Number.isFinite(value) ? undefined : is(`JSON has no ${value}`);
  return typeof value === "boolean" ? undefined : is(`JSON has no ${typeof value}`);
}

function objectJsonProblem(value: object, path: Path, inside: readonly object[]): string | undefined {
  const is = (what: string): string => `${at(path)}: ${what}`;
  if (inside.includes(value)) return is("it contains itself");
  if (inside.length >= maxDepth) return is(`it is nested deeper than ${maxDepth}`);
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  const isList = Array.isArray(value);
  if (!isList && (tag !== "Object" || "toJSON" in value)) {
    return is(
      `${/^[AEIO]/.test(tag) ? "an" : "a"} ${tag} is not the same in JSON; give text, numbers, lists or plain objects`,
    );
  }
  const fields: [string | number, unknown][] = isList
    ? [...value.entries()]
    : Object.entries(value).filter(([, field]) => field !== undefined);
  for (const [name, field] of fields) {
    const problem = jsonProblem(field, [...path, name], [...inside, value]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A problem for each field that the schema does not have. An API server would drop such a field silently. */
function unknownFields(given: unknown, parsed: unknown, path: Path): string[] {
  if (!isObject(given) || !isObject(parsed)) return [];
  return Object.entries(given).flatMap(([name, value]) => {
    const here = [...path, name];
    const runtimes =
      path.length === 1 && Object.hasOwn(runtimeOwnedFields, name) ? runtimeOwnedFields[name] : undefined;
    if (runtimes !== undefined) return [`${at(here)}: ${runtimes}`];
    if (Object.hasOwn(parsed, name)) return unknownFields(value, parsed[name], here);
    return value === undefined ? [] : [`${at(here)}: the kind's status schema has no such field`];
  });
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
