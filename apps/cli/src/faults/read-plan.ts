import { messageOf } from "@drover/controller";
import { parsePlan, type FaultPlan } from "@drover/testing/fault-proxy";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { CommandError } from "../command-error.ts";

/**
 * The plan in a file, or one derived from a seed.
 * @throws CommandError if neither or both are given; InvalidPlanError.
 */
export function readPlan({
  file,
  seed,
  rate,
}: {
  readonly file?: string | undefined;
  readonly seed?: number | undefined;
  readonly rate?: number | undefined;
}): FaultPlan {
  if (file !== undefined && seed !== undefined)
    throw new CommandError("Give --plan or --seed, not both: a plan may name a seed.");
  if (rate !== undefined && seed === undefined)
    throw new CommandError("--rate is the rate of a seed: give --seed too.");
  if (file !== undefined) return parsePlan(readYaml(file));
  if (seed === undefined) throw new CommandError("No faults are given. Give --plan or --seed.");
  return parsePlan({ seed, ...(rate === undefined ? {} : { rate }) });
}

function readYaml(file: string): unknown {
  try {
    const value: unknown = parse(readFileSync(file, "utf8"));
    return value;
  } catch (error) {
    throw new CommandError(`${file} is not YAML: ${messageOf(error)}`);
  }
}
