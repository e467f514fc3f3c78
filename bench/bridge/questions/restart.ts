import { startRedis } from "@drover/local-servers";
import { startBenchCluster } from "../cluster/bench-cluster.ts";
import { change37, populate, type Population } from "../cluster/population.ts";
import { pseudoRandom } from "@drover/random";
import { widgets } from "../cluster/widgets.ts";
import type { Stage } from "../plan.ts";
import { type Contestant, openDroverContestant, openGoContestant } from "./contestants.ts";
import { measurePhase, type PhaseFigures, type PhaseName } from "./phase.ts";

export interface RestartFigures {
  readonly objects: number;
  /** Bytes of an object as it is listed, as JSON. */
  readonly bytesPerObject: number;
  /** Creating all, ms. */
  readonly populated: number;
  readonly server: string;
  readonly phases: readonly PhaseFigures[];
}

const phasesOf = (contestant: Contestant): readonly PhaseName[] => [
  "first",
  "restart",
  "changes",
  ...(contestant.name === "drover" ? (["changes, position too old"] as const) : []),
];

/**
 * Each controller follows the same objects, one after the other: from nothing, again with nothing changed, and again when 37
 * facts came about meanwhile; for Drover once more when the API server was restarted meanwhile, too: it has forgotten
 * what happened before, and refuses the position that a watch is to resume from.
 */
export async function restart({ plan, program, bridge, progress }: Stage): Promise<RestartFigures> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startBenchCluster(progress));
  const redis = stack.adopt(await startRedis({ persistence: false }), (server) => server.stop());
  const phases: PhaseFigures[] = [];
  progress(`creating ${plan.objects} objects`);
  const population = await populate(cluster, plan.objects);
  progress(`created in ${(population.took / 1_000).toFixed(0)} s`);
  const bytesPerObject =
    Buffer.byteLength(await cluster.api.send("GET", `${widgets.collection}?limit=100`)) / 100;
  const random = pseudoRandom(plan.seed);
  const run = async (contestant: Contestant): Promise<void> => {
    try {
      for (const phase of phasesOf(contestant)) {
        progress(`${contestant.name}: ${phase}`);
        const changes = phase.startsWith("changes") ? await change37(cluster, population, random) : undefined;
        if (phase.endsWith("too old")) await restartApiServer();
        phases.push(await measure(contestant, phase, population, changes));
        progress(JSON.stringify(phases.at(-1)));
      }
    } finally {
      await contestant.close();
    }
  };
  const restartApiServer = async (): Promise<void> => {
    await cluster.real.stopApiServer();
    await cluster.real.startApiServer();
  };
  const measure = (
    contestant: Contestant,
    phase: PhaseName,
    { living }: Population,
    changes: Awaited<ReturnType<typeof change37>> | undefined,
  ): Promise<PhaseFigures> =>
    measurePhase({ cluster, contestant, phase, living, settle: plan.settle, ...(changes && { changes }) });
  await run(await openDroverContestant(cluster, redis, bridge));
  for (const name of ["typed", "metadata"] as const) await run(openGoContestant(cluster, program, name));
  return {
    objects: plan.objects,
    bytesPerObject,
    populated: population.took,
    phases,
    server: redis.description,
  };
}
