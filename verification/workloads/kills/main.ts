/**
 * Our functions for all families at once, with sequences of all of them at the same time, while the bridge, functions and
 * Redis are killed at random. Compared with kube-controller-manager, from which nothing is taken: after every action each
 * namespace must come to the same state, without Events, which a process that is killed may take with it.
 *
 *     npm run chaos:workloads -- --minutes 20 --seed 1
 *
 * `--families jobs,cronjobs` takes some of them. Rounds go on until our functions have been under way for so many minutes.
 */
import { parseArgs } from "node:util";
import { pseudoRandom } from "@drover/random";
import { omit } from "../../../packages/sandbox/src/json.ts";
import { counts } from "../../harness/report-violations.ts";
import { wholeNumber } from "../../harness/whole-number.ts";
import { compareTraces, described } from "../canonical/compare.ts";
import { controllersBeside, families as all, familyNamed } from "../families.ts";
import type { Family } from "../family.ts";
import { layGround } from "../ground.ts";
import { startFunctions } from "../our-functions.ts";
import { runSequences } from "../sequences/run-sequence.ts";
import type { Trace } from "../sequences/trace.ts";
import { killAtRandom } from "./kill-at-random.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    /** Sequences of each family in a round. */
    sequences: { type: "string", default: "12" },
    families: { type: "string", default: all.map(({ name }) => name).join(",") },
  },
});
const families = values.families.split(",").map(familyNamed);
const minutes = wholeNumber("minutes", values.minutes, 1);
const seed = wholeNumber("seed", values.seed);
const perRound = wholeNumber("sequences", values.sequences, 1);

const { cluster, client, observer, stop } = await layGround(families, console.error);
const stage = { client, kubectl: cluster.kubectl, observer };
const without = families.flatMap((family) => family.without ?? []);

/** One whose sequences take minutes has fewer of them. */
const countIn = ({ timesOf }: Family): number => (timesOf === undefined ? 4 * perRound : perRound);
/** Those of all families at once, each with as many namespaces at work. */
const tracesOf = (round: number): Promise<readonly (readonly Trace[])[]> =>
  Promise.all(
    families.map((family) =>
      runSequences({ ...stage, family }, sequencesOf(family, round), {
        atOnce: family.timesOf === undefined ? Math.ceil(perRound / 2) : perRound,
      }),
    ),
  );
const sequencesOf = (family: Family, round: number) =>
  Array.from({ length: countIn(family) }, (_, i) =>
    family.sequenceOf(seed * 10_000 + round * countIn(family) + i),
  );

const withoutEvents = ({ moments, ...trace }: Trace): Trace => ({
  ...trace,
  moments: moments.map(({ action, state }) => ({ action, state: omit(state, "events") })),
});

const killed = counts<string>();
const dice = pseudoRandom(seed);
let [underWay, sequences, actions, differ, broken] = [0, 0, 0, 0, 0];
for (let round = 0; underWay < minutes * 60_000; round += 1) {
  await cluster.runControllers(["*", ...without]);
  const theirs = await tracesOf(round);
  await cluster.runControllers([...controllersBeside(...families), ...without]);
  const functions = await startFunctions(cluster, families);
  const begun = performance.now();
  const stopping = new AbortController();
  const killing = killAtRandom(functions, {
    dice,
    signal: stopping.signal,
    killed: (part) => killed.add(part),
  });
  const ours = await Promise.race([tracesOf(round), killing.failed]);
  stopping.abort();
  await killing.ended;
  underWay += performance.now() - begun;
  await functions.stop();
  for (const [f, family] of families.entries())
    for (const [i, sequence] of sequencesOf(family, round).entries()) {
      const [reference, subject] = [theirs[f]?.[i], ours[f]?.[i]];
      if (reference === undefined || subject === undefined) throw new Error("A sequence was not run.");
      sequences += 1;
      actions += sequence.actions.length;
      const found = compareTraces(withoutEvents(reference), withoutEvents(subject), family.allowed);
      if (found.length > 0) {
        differ += 1;
        console.log(`== ${family.name} ${sequence.seed} differs\n${described(found.slice(0, 4))}`);
      }
      for (const { action, problem } of subject.violations) {
        if (reference.violations.some((one) => one.action === action && one.problem === problem)) continue;
        broken += 1;
        console.log(`== ${family.name} ${sequence.seed}, action ${action}: ${problem}`);
      }
    }
  console.error(
    `round ${round + 1}: ${sequences} sequences, killed: ${killed.listed()}; ${differ} differ, ${broken} rules broken`,
  );
}
await stop();
console.log(
  `${(underWay / 60_000).toFixed(0)} minutes, seed ${seed}, of ${families.map(({ name }) => name).join(", ")}: ${actions} actions ` +
    `in ${sequences} sequences, killed: ${killed.listed()}; ${differ} sequences differ, ${broken} rules broken`,
);
process.exitCode = differ + broken > 0 ? 1 : 0;
