import { join } from "node:path";
import { goProgram } from "../../bridge/contenders/go-program.ts";
import { startProcess } from "../../bridge/contenders/start-process.ts";
import { atWork } from "../../peers/peers/peer.ts";
import type { Contestant } from "./contestant.ts";

const sources = join(import.meta.dirname, "../controllers/go");

/** The program that is each of the contestants in Go, by its argument. */
export const goContestants = (log: (line: string) => void): Promise<string> =>
  goProgram("bench-compose", sources, log);

/** The environment of that program. */
export const goEnvironmentOf = (kubeconfig: string, workers: number, runsFile: string) => ({
  KUBECONFIG: kubeconfig,
  BENCH_WORKERS: String(workers),
  BENCH_RUNS_FILE: runsFile,
});

const ofGo = (name: string, argument: string): Contestant => ({
  name,
  async prepare(log) {
    const command = await goContestants(log);
    return async ({ stage, folder, workers }) => {
      const runsFile = join(folder, "runs");
      const child = await startProcess({
        name: "controller",
        command,
        args: [argument],
        logFile: join(folder, "controller.log"),
        env: goEnvironmentOf(stage.cluster.kubeconfig, workers, runsFile),
      });
      return {
        ...atWork([child], []),
        runsFile,
        resync: () => Promise.resolve(process.kill(child.pid, "SIGUSR1")),
      };
    };
  },
});

/** Applies every child in every reconcile. */
export const controllerRuntime = ofGo("controller-runtime", "apply");
/** Applies only children that differ from those in its cache. */
export const comparing = ofGo("controller-runtime, comparing", "compare");
