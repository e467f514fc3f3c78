/**
 * Drover's functions for Deployments and ReplicaSets beside kube-controller-manager's controllers, in turns, on one
 * control plane with fake nodes.
 *
 *     npm run bench:workloads                  three rounds of each; writes results.md
 *     npm run bench:workloads -- --rounds 1    printed
 *     npm run bench:workloads -- --little      shows that it works, printed
 */
import { parseArgs } from "node:util";
import { writeResults } from "../report/write-report.ts";
import { circumstances } from "../report/command-line.ts";
import { full, little, loadsOf } from "./loads.ts";
import { type Figures, measured } from "./measured.ts";
import { report } from "./report.ts";
import { setStage, type Stage } from "./stage.ts";
import { type Contestant, contestants, start } from "./contestants.ts";

const usualRounds = "3";
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: usualRounds },
    little: { type: "boolean", default: false },
  },
});
const loads = loadsOf(values.little ? little : full);
const progress = (line: string): void => console.error(line);

const ended = await circumstances("bench:workloads");
const stage = await setStage(progress);
const rounds: (readonly Figures[])[] = [];
try {
  for (let round = 1; round <= Number(values.rounds); round += 1)
    for (const contestant of contestants) rounds.push(await inTurn(stage, contestant, round));
} finally {
  await stage.stop();
}
const text = report(rounds, await ended());
if (values.little || values.rounds !== usualRounds) console.log(text);
else await writeResults(text, import.meta.dirname);

async function inTurn(stage: Stage, contestant: Contestant, round: number): Promise<readonly Figures[]> {
  const atWork = await start(contestant, stage);
  const figures: Figures[] = [];
  try {
    // They may still be reading what there is.
    const [warm] = loadsOf(little);
    if (warm !== undefined) await measured(stage, contestant, atWork, warm);
    for (const load of loads) {
      progress(`round ${round}, ${contestant}: ${load.title}`);
      figures.push(await measured(stage, contestant, atWork, load));
    }
  } finally {
    await atWork.stop();
  }
  return figures;
}
