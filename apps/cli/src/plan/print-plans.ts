import { printableJson } from "../printable-json.ts";
import type { ObjectPlan } from "./plan-object.ts";
import { planLines, type PlanResult, resultOf, summaryLines } from "./plan-output.ts";

interface PrintOptions {
  readonly output: "text" | "json";
  /** True if objects without a change are left out, and a summary follows. */
  readonly isSummarized: boolean;
}

/** Prints plans as they come. Returns the worst result. */
export async function printPlans(
  plans: AsyncIterable<ObjectPlan>,
  { output, isSummarized }: PrintOptions,
): Promise<PlanResult> {
  const all: ObjectPlan[] = [];
  for await (const plan of plans) {
    all.push(plan);
    if (output === "json" || (isSummarized && resultOf(plan) === "unchanged")) continue;
    console.log(planLines(plan).join("\n"));
  }
  if (output === "json") console.log(printableJson(all));
  else if (isSummarized) console.log(["", ...summaryLines(all)].join("\n"));
  const results = all.map(resultOf);
  return results.includes("failed") ? "failed" : results.includes("changed") ? "changed" : "unchanged";
}
