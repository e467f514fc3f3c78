// Many generated sequences on both servers. Each that differs is shortened as long as it differs.
import { compareRuns } from "../compare.ts";
import type { Found } from "../compare.ts";
import { runCase, runCases } from "../run-case.ts";
import type { Server } from "../servers.ts";
import type { Case } from "../steps.ts";
import { sequenceOf } from "./generate.ts";
import { shrunk } from "./shrink.ts";

export interface Differing {
  readonly seed: number;
  readonly least: Case;
  readonly found: readonly Found[];
}

export interface SequencesResult {
  readonly sequences: number;
  readonly requests: number;
  readonly differing: readonly Differing[];
}

interface Servers {
  readonly real: Server;
  readonly sandbox: Server;
}

/** Every try has a namespace of its own. */
let tries = 0;
async function differencesOf({ real, sandbox }: Servers, one: Case): Promise<readonly Found[]> {
  const id = `t${++tries}`;
  const [left, right] = await Promise.all([runCase(real, one, id), runCase(sandbox, one, id)]);
  return compareRuns(left, right);
}

const batch = 100;

/** Runs the sequences of `count` seeds from `seed` on. Shortens at most `most` that differ. */
export async function runSequences(
  servers: Servers,
  { count, seed, most = 3 }: { readonly count: number; readonly seed: number; readonly most?: number },
): Promise<SequencesResult> {
  const differing: Differing[] = [];
  let requests = 0;
  for (let first = 0; first < count; first += batch) {
    const seeds = Array.from({ length: Math.min(batch, count - first) }, (_, i) => seed + first + i);
    const cases = seeds.map(sequenceOf);
    const prefix = `q${first}-`;
    const [theirs, ours] = await Promise.all([
      runCases(servers.real, cases, prefix),
      runCases(servers.sandbox, cases, prefix),
    ]);
    for (const [i, one] of cases.entries()) {
      const [left, right] = [theirs[i], ours[i]];
      if (!left || !right) continue;
      requests += right.asked.length;
      const found = compareRuns(left, right);
      if (found.length === 0) continue;
      const isSmall = differing.length < most;
      const least = isSmall
        ? await shrunk(one, async (smaller) => (await differencesOf(servers, smaller)).length > 0)
        : one;
      const smallest = isSmall ? await differencesOf(servers, least) : found;
      differing.push({ seed: seeds[i] ?? 0, least, found: smallest.length > 0 ? smallest : found });
    }
  }
  return { sequences: count, requests, differing };
}
