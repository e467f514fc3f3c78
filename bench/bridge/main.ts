/**
 * The bridge compared with controller-runtime, on the same objects of a real API server, with a real Redis.
 *
 *     npm run bench:bridge                     every question; writes results.md
 *     npm run bench:bridge -- --minutes 5      steady changes for so long (1 by default); writes results.md
 *     npm run bench:bridge -- --only restart   restart, replay, steady: only these, printed
 *     npm run bench:bridge -- --objects 5000   shows that it works, printed
 *
 * `--bridge FILE` measures another one than the bundle that its image has, such as the sources
 * (apps/bridge/src/main.ts).
 * `--rate N` makes so many steady changes a second instead of 400, on a machine that is too slow for those.
 * `--seed N` picks other objects to change. The first run builds the cluster and the Go program, for minutes.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chosen, circumstances, progressSince } from "../report/command-line.ts";
import { writeReport } from "../report/write-report.ts";
import { goProgram } from "./contenders/go-program.ts";
import { bundledBridge } from "./contenders/shipped-bridge.ts";
import { full, type Plan, withObjects, type Stage } from "./plan.ts";
import { replay } from "./questions/replay.ts";
import { restart } from "./questions/restart.ts";
import { steady } from "./questions/steady.ts";
import { goals } from "./report/goals.ts";
import { report } from "./report/report.ts";
import { questions, type Results } from "./results.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    bridge: { type: "string" },
    objects: { type: "string" },
    minutes: { type: "string", default: "1" },
    rate: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});
const asked = chosen(values.only, questions);
const plan: Plan = {
  ...(values.objects === undefined ? full : withObjects(number("objects", values.objects))),
  steadyFor: 60_000 * number("minutes", values.minutes),
  ...(values.rate === undefined ? {} : { changesPerSecond: number("rate", values.rate) }),
  seed: number("seed", values.seed),
};
const progress = progressSince();
const results: Results = {};
const bridge = values.bridge === undefined ? await bundledBridge() : resolve(values.bridge);
const stage: Stage = {
  plan,
  progress,
  bridge,
  program: await goProgram("bench-bridge", join(import.meta.dirname, "go"), progress),
};
const ended = await circumstances("bench:bridge");
try {
  if (asked("restart")) results.restart = await restart(stage);
  if (asked("replay")) results.replay = await replay(stage);
  if (asked("steady")) results.steady = await steady(stage);
} catch (error) {
  // What was measured until then is shown all the same.
  console.error(error);
  process.exitCode = 1;
}
progress("done");

const text = report(results, await ended());
const partial =
  [values.only, values.objects, values.rate, values.bridge].some((each) => each !== undefined) ||
  process.exitCode === 1;
if (partial) console.log(text);
else await writeReport(text, goals(results), import.meta.dirname);
// Not left to Node: it may spin for ever while it takes down connections to servers that were killed.
process.exit();

function number(name: string, value: string): number {
  const found = Number(value);
  if (!(found > 0)) leave(`--${name} wants a number above 0, not ${value}.`);
  return found;
}

function leave(problem: string): never {
  console.error(problem);
  process.exit(2);
}
