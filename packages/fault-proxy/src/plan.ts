import { meant } from "@drover/controller";
import { z } from "zod";
import { type CallFault, callFaultSchema, type EventFault, eventFaultSchema, strict } from "./faults.ts";
import { randomKinds, usualKinds } from "./random-faults.ts";

const oneOrMore = <T extends z.ZodType>(schema: T) => z.union([z.array(schema).min(1), schema]);
const words = <const T extends readonly [string, ...string[]]>(known: T) =>
  z.enum(known, {
    error: ({ input }) => `there is no ${JSON.stringify(input)} here. ${meant(String(input), known)}`,
  });
const count = z.number().int().min(1);

const verbs = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
  "other",
] as const;

const whenSchema = strict({
  verb: oneOrMore(words(verbs)).optional(),
  /** As in `Call`: `configmaps`, `deployments.apps`. */
  resource: oneOrMore(z.string()).optional(),
  /** Empty: none. Left out: any, and none. */
  subresource: oneOrMore(z.string()).optional(),
  namespace: oneOrMore(z.string()).optional(),
  name: oneOrMore(z.string()).optional(),
  method: oneOrMore(z.string()).optional(),
  /** The path begins with it: for servers that are no API servers. */
  path: z.string().optional(),
  life: count.optional(),
  /** Whether it changes something. */
  write: z.boolean().optional(),
  /** The rule is about events of a watch, not about calls. */
  event: words(["any", "ADDED", "MODIFIED", "DELETED"]).optional(),
  /** Of all that match: this one alone. */
  nth: count.optional(),
  /** From this one on. */
  from: count.optional(),
  /** Up to this one. */
  to: count.optional(),
  /** Every so many: the 3rd, the 6th ... */
  everyNth: count.optional(),
});
export type When = z.infer<typeof whenSchema>;

/** What meets what. A call meets the first rule that is for it. */
export type Rule = CallRule | EventRule;
interface Met {
  readonly when: When;
  /** At most so often. */
  readonly times?: number;
}
export interface CallRule extends Met {
  readonly of: "call";
  readonly fault: CallFault;
  /** Also reads that must not be stale are. */
  readonly quorum: boolean;
}
export interface EventRule extends Met {
  readonly of: "event";
  readonly fault: EventFault;
}

const ruleSchema = z
  .looseObject({ when: whenSchema.default({}), times: count.optional() })
  .transform(({ when, times, ...said }, context): Rule => {
    const rule = { when, ...(times === undefined ? {} : { times }) };
    if (when.event !== undefined)
      return { ...rule, of: "event", fault: faultIn(eventFaultSchema, said, context) };
    const { quorum, ...rest } = quorumSchema.catch({ quorum: false }).parse(said);
    const fault = faultIn(callFaultSchema, said["do"] === "stale" ? rest : asKill(said, context), context);
    return { ...rule, of: "call", fault, quorum };
  });

/** A rule has a `when` of its own: it says `kill before` or `kill after`. */
const asKill = (said: Readonly<Record<string, unknown>>, context: z.core.$RefinementCtx): unknown => {
  if (said["do"] === "kill") {
    context.addIssue({
      code: "custom",
      path: ["do"],
      message: "say whether it is `kill before` or `kill after`.",
    });
    return { do: "reset" };
  }
  const [, when] = /^kill (before|after)$/.exec(String(said["do"])) ?? [];
  return when === undefined ? said : { ...said, do: "kill", when };
};

const quorumSchema = z.looseObject({ quorum: z.boolean().default(false) });

function faultIn<T>(schema: z.ZodType<T>, said: unknown, context: z.core.$RefinementCtx): T {
  const { success, data, error } = schema.safeParse(said);
  if (success) return data;
  for (const { path, message } of error.issues) context.addIssue({ code: "custom", path, message });
  return z.NEVER;
}

const planSchema = strict({ rules: z.array(ruleSchema).min(1) });

const seededSchema = strict({
  seed: z.number().int(),
  /** The share of calls and events that meet a fault. */
  rate: z.number().min(0).max(1).default(0.1),
  faults: z
    .array(words(randomKinds))
    .min(1)
    .default([...usualKinds]),
});
export type Seeded = z.infer<typeof seededSchema>;

/** What is to go wrong: rule by rule, or by the numbers that come from a seed. */
export type Plan = z.infer<typeof planSchema> | Seeded;

/** A plan cannot be used. Each problem names the place, and says what may have been meant. */
export class InvalidPlanError extends Error {
  override readonly name = "InvalidPlanError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The plan cannot be used:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * The plan that a value read from YAML or JSON is.
 * @throws InvalidPlanError
 */
export function parsePlan(value: unknown): Plan {
  const isSeeded = typeof value === "object" && value !== null && "seed" in value;
  const { success, data, error } = (isSeeded ? seededSchema : planSchema).safeParse(value);
  if (success) return data;
  throw new InvalidPlanError(error.issues.flatMap(problemsIn));
}

/** A value that was neither one of these nor a list of them is told what one of them should be. */
function problemsIn({ path, message, ...issue }: z.core.$ZodIssue): string[] {
  const [first] =
    issue.code === "invalid_union"
      ? issue.errors.flat().filter(({ code }) => code === "invalid_value" || code === "custom")
      : [];
  const at = path.reduce<string>(
    (said, part) =>
      typeof part === "number" ? `${said}[${part}]` : said === "" ? String(part) : `${said}.${String(part)}`,
    "",
  );
  return [`${at === "" ? "the plan" : at}: ${first?.message ?? message}`];
}

/** A rule as it stands in a plan. */
export function writtenRule(rule: Rule): object {
  const { when, times, fault } = rule;
  return {
    ...(fault.do === "kill" ? { do: `kill ${fault.when}` } : fault),
    ...(Object.keys(when).length === 0 ? {} : { when }),
    ...(rule.of === "call" && rule.quorum ? { quorum: true } : {}),
    ...(times === undefined ? {} : { times }),
  };
}
