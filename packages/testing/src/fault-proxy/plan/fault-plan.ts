import { suggest } from "@drover/controller";
import { z } from "zod";
import { verbs } from "../calls/proxied-call.ts";
import { type CallFault, callFaultSchema, type EventFault, eventFaultSchema, strict } from "./faults.ts";
import { randomKinds, defaultKinds } from "./random-faults.ts";

const oneOrMore = <T extends z.ZodType>(schema: T) => z.union([z.array(schema).min(1), schema]);
const words = <const T extends readonly string[]>(known: T) =>
  z.enum(known, {
    error: ({ input }) => `there is no ${JSON.stringify(input)} here. ${suggest(String(input), known)}`,
  });
const count = z.number().int().min(1);

const whenSchema = strict({
  verb: oneOrMore(words(verbs)).optional(),
  /** As in `ProxiedCall`: `configmaps`, `deployments.apps`. */
  resource: oneOrMore(z.string()).optional(),
  /** Empty: none. Left out: any, and none. */
  subresource: oneOrMore(z.string()).optional(),
  namespace: oneOrMore(z.string()).optional(),
  name: oneOrMore(z.string()).optional(),
  method: oneOrMore(z.string()).optional(),
  /** The path begins with it: for servers other than API servers. */
  path: z.string().optional(),
  life: count.optional(),
  /** True: only calls that change something. False: only others. */
  write: z.boolean().optional(),
  /** The rule is about events of a watch, not about calls. */
  event: words(["any", "ADDED", "MODIFIED", "DELETED"]).optional(),
  /** Only this one of all that match. */
  nth: count.optional(),
  /** From this one on. */
  from: count.optional(),
  /** Up to this one. */
  to: count.optional(),
  /** Every nth one from `from` on: with 3, the 3rd, the 6th ... */
  everyNth: count.optional(),
});
export type RuleCondition = z.infer<typeof whenSchema>;

/** A fault, and the calls or events that meet it. The first rule that matches a call and is due applies. */
export type FaultRule = CallRule | EventRule;
interface RuleBase {
  readonly when: RuleCondition;
  /** The most faults that it causes. */
  readonly times?: number;
}
export interface CallRule extends RuleBase {
  readonly of: "call";
  readonly fault: CallFault;
  /** If true, `stale` also applies to reads that must not be stale. */
  readonly quorum: boolean;
}
export interface EventRule extends RuleBase {
  readonly of: "event";
  readonly fault: EventFault;
}

const ruleSchema = z
  .looseObject({ when: whenSchema.default({}), times: count.optional() })
  .transform(({ when, times, ...fields }, context): FaultRule => {
    const rule = { when, ...(times === undefined ? {} : { times }) };
    if (when.event !== undefined)
      return { ...rule, of: "event", fault: faultIn(eventFaultSchema, fields, context) };
    const { quorum, ...rest } = quorumSchema.catch({ quorum: false }).parse(fields);
    const fault = faultIn(
      callFaultSchema,
      fields["do"] === "stale" ? rest : asKill(fields, context),
      context,
    );
    return { ...rule, of: "call", fault, quorum };
  });

/** In a rule, `when` has another meaning, so the fault is written as `kill before` or `kill after`. */
const asKill = (fields: Readonly<Record<string, unknown>>, context: z.core.$RefinementCtx): unknown => {
  if (fields["do"] === "kill") {
    context.addIssue({
      code: "custom",
      path: ["do"],
      message: "write `kill before` or `kill after`.",
    });
    return { do: "reset" };
  }
  const [, when] = /^kill (before|after)$/.exec(String(fields["do"])) ?? [];
  return when === undefined ? fields : { ...fields, do: "kill", when };
};

const quorumSchema = z.looseObject({ quorum: z.boolean().default(false) });

function faultIn<T>(schema: z.ZodType<T>, fields: unknown, context: z.core.$RefinementCtx): T {
  const { success, data, error } = schema.safeParse(fields);
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
    .default([...defaultKinds]),
});
export type SeededPlan = z.infer<typeof seededSchema>;

/** The faults to inject: by rules, or chosen by a seed. */
export type FaultPlan = z.infer<typeof planSchema> | SeededPlan;

/** A plan cannot be used. Each problem has the place, and suggests a correction. */
export class InvalidPlanError extends Error {
  override readonly name = "InvalidPlanError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The plan cannot be used:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Parses a plan, from a value that was read from YAML or JSON.
 * @throws InvalidPlanError
 */
export function parsePlan(value: unknown): FaultPlan {
  const isSeeded = typeof value === "object" && value !== null && "seed" in value;
  const { success, data, error } = (isSeeded ? seededSchema : planSchema).safeParse(value);
  if (success) return data;
  throw new InvalidPlanError(error.issues.flatMap(problemsIn));
}

/** For a value that may be single or in a list, the problem is that of a single value. */
function problemsIn({ path, message, ...issue }: z.core.$ZodIssue): string[] {
  const [first] =
    issue.code === "invalid_union"
      ? issue.errors.flat().filter(({ code }) => code === "invalid_value" || code === "custom")
      : [];
  const at = path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
  return [`${at === "" ? "the plan" : at}: ${first?.message ?? message}`];
}

/** A rule as it is written in a plan. */
export function writtenRule(rule: FaultRule): object {
  const { when, times, fault } = rule;
  return {
    ...(fault.do === "kill" ? { do: `kill ${fault.when}` } : fault),
    ...(Object.keys(when).length === 0 ? {} : { when }),
    ...(rule.of === "call" && rule.quorum ? { quorum: true } : {}),
    ...(times === undefined ? {} : { times }),
  };
}
