/**
 * # Functions side by side, each scaled on its own
 *
 * Ten functions, all at zero but one, on one Redis and one API server: `npm run soak:scaling -- --cycles 50 --seed 1`.
 * In each cycle one of them gets a change of every one of its objects at once; processes of its Pods are killed with
 * SIGKILL while they work; then it must come to rest, and go back to zero. Meanwhile no other function may get a Pod, and
 * the one that is always there works on a change every 300 ms.
 *
 * Runs are read from a log that the functions write, results from the objects' status, Pods from the API
 * server; `judge.ts` compares.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { now } from "../harness/clock.ts";
import { type Ground, startTestServers } from "./ground.ts";
import { type Kill, violationsIn } from "./judge.ts";
import { journalOf } from "./loads.ts";
import { openNeighbour } from "./neighbour.ts";
import { changeAll, untilSeen } from "./objects.ts";
import { type Pod, podsOf } from "./pods.ts";
import { timesLine } from "../harness/spread.ts";

const { values } = parseArgs({
  options: { cycles: { type: "string", default: "50" }, seed: { type: "string", default: "1" } },
});
const names = Array.from({ length: 10 }, (_, i) => `load-${i}`);
const [always = "", ...others] = names;
const objects = 60;
/** How long anything may take on a slow machine before it counts as lost. */
const patience = 60_000;

process.exitCode = await main(
  wholeNumber("cycles", values.cycles, 1),
  pseudoRandom(wholeNumber("seed", values.seed)),
);
process.exit();

interface Cycle {
  /** From the first change to the first Pod, ms; and to the first run. */
  readonly toPod: number;
  readonly toRun: number;
  readonly mostPods: number;
  readonly violations: readonly string[];
}

async function main(cycles: number, dice: PseudoRandom): Promise<number> {
  const servers = await startTestServers(new Map([[always, 1], ...others.map((name) => [name, 0] as const)]));
  const kills: Kill[] = [];
  const done: Cycle[] = [];
  const calm = await openNeighbour(servers, always);
  await delay(10_000);
  const before = await calm.close();
  const neighbour = await openNeighbour(servers, always);
  for (let n = 1; n <= cycles; n++) {
    const cycle = await runCycle(servers, dice, { n, name: dice.oneOf(others), kills });
    done.push(cycle);
    console.log(
      `${n}: Pod after ${cycle.toPod} ms, run after ${cycle.toRun} ms, ${cycle.mostPods} Pods at most, ${kills.length} killed`,
      ...cycle.violations,
    );
  }
  const during = await neighbour.close();
  const lines = await journalOf(servers);
  const violations = [...done.flatMap((cycle) => cycle.violations), ...violationsIn(lines, kills)];
  const runs = lines.filter(({ what }) => what === "ends").length;
  console.log(`first change to first run: ${timesLine(done.map(({ toRun }) => toRun))}`);
  console.log(`the neighbour's change to its run, without other load: ${timesLine(before)}`);
  console.log(`the neighbour's change to its run, meanwhile: ${timesLine(during)}`);
  for (const violation of violations) console.log(violation);
  await servers.stop();
  const toPods = timesLine(done.map(({ toPod }) => toPod));
  console.log(
    `${cycles} cycles, seed ${values.seed}: ${violations.length} violations; ${runs} runs, ${kills.length} processes killed; first Pod ${toPods}`,
  );
  return violations.length === 0 ? 0 : 1;
}

async function runCycle(
  servers: Ground,
  dice: PseudoRandom,
  { n, name, kills }: { readonly n: number; readonly name: string; readonly kills: Kill[] },
): Promise<Cycle> {
  const { cluster } = servers;
  const violations: string[] = [];
  const begun = now();
  let firstPod = Infinity;
  let mostPods = 0;
  const killing = dice.between(0, 3);
  let killed = 0;
  const at = { rest: false };
  const settled = (async () => {
    await changeAll(servers, { namespace: name, objects, n });
    violations.push(...(await untilSeen(servers, { namespace: name, n, patience })));
    at.rest = true;
  })();
  for (;;) {
    const pods = await podsOf(cluster);
    const mine = pods.filter((pod) => pod.function === name);
    const strangers = pods.filter((pod) => pod.function !== name && pod.function !== always && !pod.leaving);
    violations.push(
      ...strangers.map((pod) => `cycle ${n}: ${pod.name} was made, though only ${name} had to work`),
    );
    mostPods = Math.max(mostPods, mine.length);
    if (mine.length > 0) firstPod = Math.min(firstPod, now());
    if (!at.rest && killed < killing && dice.chance(0.15)) killed += kill(dice, mine, kills);
    if (at.rest && mine.length === 0) break;
    if (now() - begun > 3 * patience) {
      violations.push(`cycle ${n}: ${name} does not come to rest: ${JSON.stringify(mine)}`);
      break;
    }
    await delay(50);
  }
  await settled;
  const first = (await journalOf(servers)).find(({ at, key }) => at >= begun && key.startsWith(`${name}/`));
  const toRun = Math.round((first?.at ?? Infinity) - begun);
  return { toPod: Math.round(firstPod - begun), toRun, mostPods, violations };
}

/** Kills one of the Pods' processes, if there is one. */
function kill(dice: PseudoRandom, pods: readonly Pod[], kills: Kill[]): number {
  const alive = pods.filter((pod) => pod.process !== undefined);
  if (alive.length === 0) return 0;
  const { name, process: pid = 0 } = dice.oneOf(alive);
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return 0; // it ended by itself a moment ago
  }
  kills.push({ pod: name, at: now() });
  return 1;
}
