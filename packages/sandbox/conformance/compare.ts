import { writeJson } from "@drover/json";
import { allowedDifferences } from "./allowed-differences.ts";
import type { Allowed } from "./allowed-differences.ts";
import { differences } from "./differences.ts";
import type { Difference } from "./differences.ts";
import { masked } from "./masks.ts";
import type { Run } from "./run-case.ts";

/** A difference, and its request. */
export interface Found extends Difference {
  /** The number of the request in the case, from 1 on. */
  readonly step: number;
  readonly request: string;
}

/** The differences of two runs of a case. Allowed ones are left out, and added to `used`. */
export function compareRuns(real: Run, sandbox: Run, used: Set<Allowed> = new Set()): readonly Found[] {
  const [left, right] = [masked(real), masked(sandbox)];
  return left.flatMap((answer, i) => {
    const asked = sandbox.asked[i];
    const type = asked?.headers["content-type"] ?? "";
    const request = `${asked?.method ?? ""} ${asked?.path ?? ""}${type === "" ? "" : ` (${type})`}`;
    const body = asked?.body ?? "";
    return differences({ ...answer }, right[i] && { ...right[i] })
      .filter(({ path, real: theirs }) => {
        const allowed = allowedDifferences.find(
          (one) =>
            one.request.test(request) &&
            one.path.test(path) &&
            (one.real?.test(writeJson(theirs ?? null)) ?? true),
        );
        if (allowed) used.add(allowed);
        return !allowed;
      })
      .map((difference) => ({ ...difference, step: i + 1, request: `${request} ${body.slice(0, 2_000)}` }));
  });
}

const shown = (value: Difference["real"]): string =>
  value === undefined ? "(nothing)" : writeJson(value).slice(0, 1_500);

/** Differences for people: the request, the place, and both values. */
export const describeDifferences = (found: readonly Found[]): string =>
  found
    .map(
      ({ step, request, path, real, sandbox }) =>
        `${step}. ${request}\n   at ${path || "(everything)"}\n   real:    ${shown(real)}\n   sandbox: ${shown(sandbox)}`,
    )
    .join("\n");
