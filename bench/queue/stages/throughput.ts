import type { RedisServer } from "@drover/local-servers";
import { contenderNames } from "../contenders/contender.ts";
import { empty } from "../measures/server-figures.ts";
import type { Plan } from "../plan.ts";
import { startTeam, type Team } from "../processes/team.ts";
import { measureIdle } from "../questions/idle-latency.ts";
import { measureMemory } from "../questions/memory.ts";
import { isKeptUp, measureRuns } from "../questions/runs.ts";
import { measureWakes, type WakeKind, wakeKinds } from "../questions/wakes.ts";
import { measureWhereTimeGoes } from "../questions/where-time-goes.ts";
import type { Question, Results } from "../results.ts";

export interface Stage {
  readonly server: RedisServer;
  readonly plan: Plan;
  readonly results: Results;
  readonly asked: (question: Question) => boolean;
  readonly progress: (line: string) => void;
}

/** A round with so many keys due. */
interface Round extends Stage {
  readonly teams: readonly Team[];
  readonly depth: number;
  readonly round: number;
  /** Empties the server. */
  readonly startAfresh: () => Promise<void>;
}

/** Everything that is asked with so and so many keys due: contenders take turns, round after round. */
export async function measureThroughput(stage: Stage): Promise<void> {
  const { server, plan } = stage;
  await using stack = new AsyncDisposableStack();
  const start = (workers: number, queue: string) =>
    Promise.all(
      contenderNames.map(async (name) =>
        stack.use(await startTeam(name, server.url, workers, `${queue}-${name}`)),
      ),
    );
  const teams = await start(Math.max(...plan.processes), "bench");
  const idlers = await start(1, "idle");
  for (const depth of plan.depths) await measureDepth(stage, teams, idlers, depth);
}

async function measureDepth(
  stage: Stage,
  teams: readonly Team[],
  idlers: readonly Team[],
  depth: number,
): Promise<void> {
  const { server, plan, results, asked, progress } = stage;
  const startAfresh = async () => {
    await empty(server);
    for (const team of [...teams, ...idlers]) team.restart(depth);
  };
  await startAfresh();
  for (let number = 1; number <= plan.rounds; number += 1) {
    const round: Round = { ...stage, teams, depth, round: number, startAfresh };
    progress(`${depth} keys due, round ${number} of ${plan.rounds}`);
    for (const team of teams) {
      if (isKeptUp(depth)) await startAfresh();
      if (team.due() === 0) results.memory.push(await measureMemory(server, team, depth, number));
    }
    if (asked("wakes")) await measureAllWakes(round);
    if (asked("idle")) {
      for (const [i, idler] of idlers.entries()) {
        await makeDue(teams[i], round);
        results.idle.push(await measureIdle(idler, { depth, round: number, wakes: plan.idleWakes }));
      }
    }
    if (asked("runs")) await measureAllRuns(round);
  }
  if (asked("time") && depth === Math.max(...plan.depths)) {
    for (const team of teams) {
      const cell = { depth, concurrency: 64, processes: 1 };
      results.time.push(await measureWhereTimeGoes(server, team, cell, plan));
    }
  }
}

async function measureAllWakes(now: Round): Promise<void> {
  const { server, plan, results, teams, depth, round } = now;
  for (const kind of wakeKinds) {
    for (const team of teams) {
      if (!canWake(team, kind)) continue;
      await makeDue(team, now);
      results.wakes.push(await measureWakes(server, team, kind, { depth, round, plan }));
      await team.producer.stop();
    }
  }
}

/** Only Drover folds: to the others every wake is one more run. */
const canWake = ({ name }: Team, kind: WakeKind): boolean => kind !== "folded" || name === "drover";

async function measureAllRuns(now: Round): Promise<void> {
  const { server, plan, results, teams, depth, round, startAfresh } = now;
  if (isKeptUp(depth)) await startAfresh();
  for (const processes of plan.processes) {
    for (const concurrency of plan.concurrencies) {
      for (const team of teams) {
        const cell = { depth, concurrency, processes };
        results.runs.push(await measureRuns(server, team, cell, round, plan));
      }
    }
  }
}

/** `depth` keys due, exactly where that is quick, at least where it is not. The queue is closed afterwards. */
async function makeDue(team: Team | undefined, { depth, startAfresh }: Round): Promise<void> {
  if (team === undefined) return;
  if (isKeptUp(depth)) await startAfresh();
  await team.wake(Math.max(0, depth - team.due()));
  await team.producer.stop();
}
