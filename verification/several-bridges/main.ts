/**
 * # Several bridges under fire
 *
 * Three bridges share the streams of a real API server and a real Redis, under steady changes, and every few seconds one
 * of them is killed, or stopped for longer than its lease: `npm run soak:bridges -- --minutes 10 --seed 1`.
 *
 * Load, recorder, reader and oracle are those of `verification/bridge-chaos`: none of them is the bridge's. At the end every
 * change must have been looked at. Reported are the time from a fault to the moment at which another bridge has taken
 * the stream up, and that from a commit to the run that read it.
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { now } from "../harness/clock.ts";
import { pseudoRandom } from "@drover/random";
import { violationLines } from "../harness/report-violations.ts";
import { timesLine } from "../harness/spread.ts";
import { observe } from "../bridge-chaos/observe.ts";
import { startTestServers } from "../bridge-chaos/test-servers.ts";
import { openLoad } from "../bridge-chaos/load.ts";
import { contradictions, violationOf } from "../bridge-chaos/oracle/oracle.ts";
import { lagsOf } from "./lags.ts";
import { startTeam } from "./team.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "1" } },
});
/** How long what is left may take to be looked at when nothing breaks any more. */
const patience = 30_000;
const objects = 60;
/** Longer than a stream's lease, so that another bridge holds it when the stopped one continues. */
const stoppedFor = 5_000;

process.exit(await main());

async function main(): Promise<number> {
  const seed = wholeNumber("seed", values.seed);
  const dice = pseudoRandom(seed);
  const servers = await startTestServers(1);
  const [lane] = servers.lanes;
  if (lane === undefined) throw new Error("There is no lane.");
  const { api } = servers;
  const { kind, redisUrl } = lane;
  const folder = await mkdtemp(join(tmpdir(), "drover-several-bridges-"));
  const observed = await observe(api, lane, { linger: 0, folder });
  const { log, oracle, controller } = observed;
  const load = openLoad({ api, kind, seed, objects, pace: 20, references: false });
  const team = await startTeam({
    folder,
    kubeconfig: servers.kubeconfig,
    redisUrl,
    kind,
    controller,
    size: 3,
  });
  const until = now() + wholeNumber("minutes", values.minutes, 1) * 60_000;
  const done = new AbortController();
  const changing = (async () => {
    while (!done.signal.aborted) await load.run(8);
  })();
  const faults = { killed: 0, stopped: 0 };
  while (now() < until) {
    await delay(dice.between(2_000, 6_000));
    // The one that holds the stream twice as often as chance would have it.
    const victim = dice.chance(0.5) ? team.holder() : dice.oneOf(team.members());
    if (dice.chance(0.5)) {
      faults.killed++;
      await team.replace(victim);
    } else {
      faults.stopped++;
      await team.freeze(victim, stoppedFor);
    }
  }
  done.abort();
  await changing;
  const isAtRest = (): boolean => oracle.unseenChanges().length === 0;
  await log.until(isAtRest, patience);
  const violations = [...oracle.unseenChanges().map(violationOf), ...contradictions(log.facts)];
  for (const line of violationLines(violations)) console.log(line);
  const lags = lagsOf(log.facts);
  await team.stop();
  await observed.close();
  await servers.close();
  console.log(`logs: ${folder}`);
  console.log(`hand-over: ${timesLine(team.handOvers)}`);
  console.log(`from commit to the run that read it: ${timesLine(lags)}`);
  console.log(
    `${values.minutes} minutes, seed ${seed}: ${violations.length} violations; ${lags.length} changes, ` +
      `${faults.killed} bridges killed, ${faults.stopped} stopped for ${stoppedFor} ms, ${team.handOvers.length} hand-overs`,
  );
  return violations.length === 0 ? 0 : 1;
}
