/**
 * The same small controller with everybody, in turns, on one real API server.
 *
 *     npm run bench:peers                              three rounds; writes results.md
 *     npm run bench:peers -- --rounds 1                printed
 *     npm run bench:peers -- --only Drover,kube-rs     these, and who they are put beside; printed
 *     npm run bench:peers -- --little                  shows that it works, printed
 *
 * The first run builds the cluster and the peers, for minutes. Who cannot be built is left out, and said to be.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { format, resolveConfig } from "prettier";
import { machineLoad } from "../queue/measures/machine-load.ts";
import { type Stage, setStage } from "./cluster/stage.ts";
import { drover } from "./peers/drover.ts";
import { controllerRuntime, floor } from "./peers/go.ts";
import { kopf } from "./peers/kopf.ts";
import { kubeRs } from "./peers/kube-rs.ts";
import type { Peer, Prepared } from "./peers/peer.ts";
import { full, little } from "./plan.ts";
import { reference, report } from "./report.ts";
import { takeTurn, type TurnFigures } from "./turn.ts";

const peers: readonly Peer[] = [floor, controllerRuntime, kubeRs, kopf, drover];

const usualRounds = "3";
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: usualRounds },
    only: { type: "string" },
    little: { type: "boolean", default: false },
  },
});
const only = values.only?.split(",");
const unknown = only?.filter((name) => !peers.some((peer) => peer.name === name)) ?? [];
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}. There are: ${peers.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}
const plan = values.little ? little : full;
const progress = (line: string): void => console.error(line);

const prepared = new Map<string, Prepared>();
const notRun = new Map<string, string>();
for (const peer of peers.filter(({ name }) => name === reference || (only?.includes(name) ?? true)))
  try {
    prepared.set(peer.name, await peer.prepare(progress));
  } catch (error) {
    notRun.set(peer.name, error instanceof Error ? error.message : String(error));
  }

const busyBefore = await machineLoad();
const stage = await setStage(progress);
const turns: TurnFigures[] = [];
try {
  for (let round = 1; round <= Number(values.rounds); round += 1)
    for (const [name, prepare] of prepared) turns.push(await inTurn(stage, name, prepare, round));
} finally {
  await stage.stop();
}
const text = report(turns, {
  command: ["npm run bench:peers", ...(process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [])].join(
    " ",
  ),
  ...{ machine: `${cpus().length} cores`, plan, notRun },
  busy: [busyBefore, await machineLoad()],
});
const file = join(import.meta.dirname, "results.md");
const isPartial = values.little || only !== undefined || values.rounds !== usualRounds;
if (isPartial) console.log(text);
else await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));

async function inTurn(stage: Stage, name: string, prepare: Prepared, round: number): Promise<TurnFigures> {
  progress(`round ${round}: ${name}`);
  const folder = join(stage.folder, `${name}-${round}`);
  await mkdir(folder);
  const contestant = await prepare({ kubeconfig: stage.cluster.kubeconfig, folder });
  try {
    return await takeTurn(name, { stage, contestant }, plan);
  } finally {
    await contestant.close();
  }
}
