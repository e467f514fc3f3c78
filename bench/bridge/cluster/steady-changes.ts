import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { startProcess } from "../contenders/start-process.ts";
import type { Change } from "../measures/lags.ts";
import type { Plan } from "../plan.ts";
import type { BenchCluster } from "./bench-cluster.ts";

/**
 * Changes Widgets at a steady rate, by a process of its own: what it writes down must not wait for what is measured
 * here. Answers its CPU time, s, too.
 */
export async function changeSteadily(
  { real, folder }: BenchCluster,
  { steadyObjects: objects, changesPerSecond: perSecond, steadyFor: lasts }: Plan,
): Promise<{ readonly changes: readonly Change[]; readonly writerCpu: number }> {
  const file = join(folder, "changes");
  const writer = await startProcess({
    name: "the writer",
    command: process.execPath,
    args: [
      join(import.meta.dirname, "../processes/steady-writer.ts"),
      JSON.stringify({ kubeconfig: real.kubeconfig, file, objects, perSecond, lasts }),
    ],
    logFile: join(folder, "writer.log"),
  });
  const { code } = await writer.exited;
  const output = await readFile(writer.logFile, "utf8");
  if (code !== 0) throw new Error(`The writer failed:\n${output}`);
  const lines = (await readFile(file, "utf8")).split("\n").filter(Boolean);
  const changes = lines.map((line) => {
    const [key = "", sent, answered] = line.split(" ");
    return { key, sent: Number(sent) / 1e6, answered: Number(answered) / 1e6 };
  });
  return { changes, writerCpu: z.object({ cpu: z.number() }).parse(JSON.parse(output)).cpu };
}
