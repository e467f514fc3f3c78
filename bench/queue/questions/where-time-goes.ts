import type { RedisServer } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import type { ContenderName } from "../contenders/contender.ts";
import { type ProfileShares, profileShares } from "../measures/profile-shares.ts";
import {
  commandFigures,
  type CommandFigures,
  resetCommandFigures,
  serverCpu,
} from "../measures/server-figures.ts";
import type { Plan } from "../plan.ts";
import type { Team } from "../processes/team.ts";
import { type Cell, isKeptUp, whileWorking } from "./runs.ts";

/** One worker process under the profiler, and the server's own statistics of the same window. */
export interface WhereTimeGoes extends Cell {
  readonly contender: ContenderName;
  readonly runs: number;
  readonly worker: ProfileShares;
  readonly server: readonly CommandFigures[];
  /** µs of the server process. */
  readonly serverCpu: number;
}

/**
 * A profile's samples are taken by the clock, also while others have the core: its shares are applied to the CPU time
 * that the process used. Profiling slows, so that is more than CPU per run without it.
 */
export async function measureWhereTimeGoes(
  server: RedisServer,
  team: Team,
  cell: Cell,
  plan: Plan,
): Promise<WhereTimeGoes> {
  const [worker] = team.workers;
  if (!isKeptUp(cell.depth)) await team.wake(Math.max(0, cell.depth - team.due()));
  return whileWorking(team, [worker], cell, async () => {
    await delay(plan.warmUp);
    await worker.startProfile();
    await resetCommandFigures(server);
    const [before, serverBefore] = [await worker.mark(), await serverCpu(server)];
    await delay(plan.profile);
    const after = await worker.mark();
    const serverTime = (await serverCpu(server)) - serverBefore;
    const commands = await commandFigures(server);
    return {
      ...cell,
      contender: team.name,
      runs: after.runs - before.runs,
      worker: profileShares(await worker.stopProfile(), after.cpu - before.cpu),
      server: commands,
      serverCpu: serverTime,
    };
  });
}
