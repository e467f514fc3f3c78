// Many generated sequences on both servers. Each that differs is shortened as long as it differs.
import { compareRuns } from "../compare.ts";
import type { Found } from "../compare.ts";
import { runOnBoth } from "../run-case.ts";
import type { Servers } from "../servers.ts";
import type { Case } from "../steps.ts";
import { applySequenceOf } from "./generate-apply.ts";
import { sequenceOf } from "./generate.ts";
import { shrunk } from "./shrink.ts";

export interface Differing {
  readonly name: string;
  readonly least: Case;
  readonly found: readonly Found[];
}

export interface SequencesResult {
  readonly sequences: number;
  readonly requests: number;
  readonly differing: readonly Differing[];
}

/** Every try has a namespace of its own. */
let tries = 0;
async function differencesOf(servers: Servers, one: Case): Promise<readonly Found[]> {
  const runs = await runOnBoth(servers, [one], `t${++tries}-`);
  return runs.flatMap(([real, sandbox]) => compareRuns(real, sandbox));
}

const batch = 100;

/** Runs the two sequences of each of `count` seeds from `seed` on. Shortens at most `most` that differ. */
export async function runSequences(
  servers: Servers,
  { count, seed, most = 3 }: { readonly count: number; readonly seed: number; readonly most?: number },
): Promise<SequencesResult> {
  const differing: Differing[] = [];
  let requests = 0;
  for (let first = 0; first < count; first += batch) {
    const seeds = Array.from({ length: Math.min(batch, count - first) }, (_, i) => seed + first + i);
    const cases = seeds.flatMap((one) => [sequenceOf(one), applySequenceOf(one)]);
    const runs = await runOnBoth(servers, cases, `q${first}-`);
    for (const [i, one] of cases.entries()) {
      const pair = runs[i];
      if (!pair) continue;
      const [real, sandbox] = pair;
      requests += sandbox.asked.length;
      const found = compareRuns(real, sandbox);
      if (found.length === 0) continue;
      const isSmall = differing.length < most;
      const least = isSmall
        ? await shrunk(one, async (smaller) => (await differencesOf(servers, smaller)).length > 0)
        : one;
      const smallest = isSmall ? await differencesOf(servers, least) : found;
      differing.push({ name: one.name, least, found: smallest.length > 0 ? smallest : found });
    }
  }
  return { sequences: 2 * count, requests, differing };
}
