import { z } from "zod";
import { goPatternProblem } from "./go-pattern.ts";
import type { Place } from "./place.ts";

/**
 * Marks a check that only the runtime makes, because a CRD cannot contain it:
 * `.refine(isPrime, { error: "Must be prime.", ...checkedAtRun })`.
 *
 * Without the mark such a check is refused, because the API server would accept objects that never reach reconcile.
 * With the mark the API server accepts such an object, and its Ready condition reports the problem. Works wherever zod
 * accepts parameters: on `refine`, on `regex`, on formats such as `z.iban(checkedAtRun)`.
 */
export const checkedAtRun = { abort: false, params: { checkedAtRun: true } } as const;

/** The fields of a check that are used here. They are parsed, because they come from zod's internals. */
const checkShape = z.object({
  check: z.string(),
  value: z.unknown().optional(),
  inclusive: z.boolean().optional(),
  format: z.string().optional(),
  pattern: z.instanceof(RegExp).optional(),
  protocol: z.unknown().optional(),
  hostname: z.unknown().optional(),
  normalize: z.unknown().optional(),
  params: z.unknown().optional(),
});
type Check = z.infer<typeof checkShape>;

/** Refuses, at its place, each check of a schema that a CRD cannot contain and that is not left to the runtime. */
export function refuseChecks(schema: z.core.$ZodType, place: Place): void {
  for (const check of checksOf(schema)) {
    const problem = isMarked(check) ? undefined : checkProblem(check);
    if (problem !== undefined) place.refuse(problem);
  }
}

/** The checks of a schema that a CRD contains: those that are not left to the runtime. */
export const carriedChecks = (schema: z.core.$ZodType): readonly Check[] =>
  checksOf(schema).filter((check) => !isMarked(check));

/** zod's own JSON Schema of the checks that a CRD contains: bounds and patterns are merged, metadata is left out. */
export const jsonSchemaOf = (schema: z.core.$ZodType) =>
  z.toJSONSchema(withoutMarked(schema), {
    target: "openapi-3.0",
    io: "input",
    metadata: z.registry(),
    unrepresentable: "any", // it is already in the problems
  });

function withoutMarked(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod;
  const checks = def.checks?.filter(({ _zod }) => !isMarked(checkShape.parse(_zod.def))) ?? [];
  const own = ownCheck(schema);
  if (own?.check === "string_format" && isMarked(own)) {
    const anyString: z.core.$ZodType = z.string();
    return z.clone(anyString, { type: "string", checks });
  }
  return checks.length === (def.checks?.length ?? 0) ? schema : z.clone(schema, { ...def, checks });
}

function checksOf(schema: z.core.$ZodType): readonly Check[] {
  const own = ownCheck(schema);
  const added = (schema._zod.def.checks ?? []).map(({ _zod }) => checkShape.parse(_zod.def));
  return own === undefined ? added : [own, ...added];
}

// A format such as z.email() or z.int32() is both schema and check. So is z.custom(), which is refused as a type.
function ownCheck({ _zod: { def } }: z.core.$ZodType): Check | undefined {
  return "check" in def && def.type !== "custom" ? checkShape.parse(def) : undefined;
}

const isMarked = ({ params }: Check): boolean =>
  typeof params === "object" && params !== null && "checkedAtRun" in params;

function checkProblem(check: Check): string | undefined {
  switch (check.check) {
    case "less_than":
    case "greater_than":
      return isNoNumber(check.value) ? `${check.value} is not a number in JSON; leave it out` : undefined;
    case "multiple_of":
      if (typeof check.value === "bigint" && check.value !== 0n) return undefined;
      return check.value === 0 || !Number.isInteger(check.value)
        ? `the API server cannot check multiples of ${String(check.value)}, because it truncates factors to whole numbers; use one above 0, or leave it to the runtime with ...checkedAtRun`
        : undefined;
    case "number_format":
    case "bigint_format":
    case "min_length":
    case "max_length":
    case "length_equals":
    case "describe":
    case "meta":
      return undefined;
    case "string_format":
      return formatProblem(check);
    case "overwrite":
      return "the value is changed while it is parsed, but the API server keeps what was written; demand the wanted form with a pattern";
    case "custom":
      return "a refinement is code, which the API server does not run; write a cel rule in .meta({ kubernetes: { cel: [...] } }), or leave it to the runtime with .refine(..., { ...checkedAtRun })";
    default:
      return `the check "${check.check}" has no structural form; write a cel rule in .meta({ kubernetes: { cel: [...] } })`;
  }
}

const isNoNumber = (value: unknown): value is number => typeof value === "number" && !Number.isFinite(value);

function formatProblem({ format = "", pattern, ...url }: Check): string | undefined {
  const atRun = "or leave it to the runtime with ...checkedAtRun";
  if (format === "url") {
    const narrowed = [url.protocol, url.hostname, url.normalize].some((option) => option !== undefined);
    return narrowed
      ? `a narrowed url has no structural form; add a .regex() or .startsWith(), ${atRun}`
      : undefined;
  }
  if (pattern === undefined || format === "credit_card" || format === "iban") {
    return `the format "${format}" is checked by code, which the API server does not run; use .regex(), ${atRun}`;
  }
  const problem = goPatternProblem(pattern);
  return problem === undefined
    ? undefined
    : `the pattern ${pattern.toString()} does not work there: ${problem}, ${atRun}`;
}
