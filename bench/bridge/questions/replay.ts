import { startRedis } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { now } from "../../../verification/harness/clock.ts";
import { kubeconfigText } from "../../../verification/harness/kubeconfigs.ts";
import { type BenchCluster, startBenchCluster } from "../cluster/bench-cluster.ts";
import { populate } from "../cluster/population.ts";
import { pseudoRandom } from "@drover/random";
import { startBridge } from "../contenders/drover.ts";
import { startGo } from "../contenders/go-contender.ts";
import { followRunLog } from "../contenders/run-log.ts";
import { untilSo } from "../contenders/start-process.ts";
import { viewLedger } from "../measures/ledger.ts";
import { watchOthers } from "../measures/others.ts";
import { cpuOf } from "../../report/process-figures.ts";
import { type Recording, record } from "../replay/record.ts";
import { type ReplayServer, startReplayServer } from "../replay/replay-server.ts";
import type { Stage } from "../plan.ts";

/** The clients of the replay, and the format that they request. */
export const readers = [
  "bridge",
  "reflector, metadata",
  "reflector, whole",
  "controller-runtime, metadata",
  "controller-runtime, whole",
] as const;
export type Reader = (typeof readers)[number];

export interface ReplayRound {
  readonly reader: Reader;
  readonly eventsPerSecond: number;
  /** µs per event, of the processes by name. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Share of the machine that other processes took, in [0, 1]. */
  readonly others: number;
}

export interface ReplayFigures {
  readonly objects: number;
  readonly frames: number;
  readonly rounds: readonly ReplayRound[];
}

/** Records a watch of the real API server, and plays it to each reader in turn. */
export async function replay({ plan, program, bridge, progress }: Stage): Promise<ReplayFigures> {
  await using cluster = await startBenchCluster(progress);
  const population = await populate(cluster, plan.recordedObjects);
  progress(`recording ${plan.frames} changes of ${plan.recordedObjects} objects`);
  const recording = await record(cluster, population, plan.frames, pseudoRandom(plan.seed));
  // Its processes would take part of the machine, idle as they are.
  await cluster.real.stop();
  const rounds: ReplayRound[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const reader of readers) {
      rounds.push(await play({ recording, cluster, program, bridge }, reader));
      progress(JSON.stringify(rounds.at(-1)));
    }
  }
  return { objects: plan.recordedObjects, frames: recording.frames, rounds };
}

interface Playing {
  readonly recording: Recording;
  readonly cluster: BenchCluster;
  readonly program: string;
  readonly bridge: string;
}

async function play(playing: Playing, reader: Reader): Promise<ReplayRound> {
  const server = await startReplayServer(playing.recording);
  const kubeconfig = join(playing.cluster.folder, "replay.kubeconfig");
  await writeFile(kubeconfig, kubeconfigText({ server: server.url }, {}));
  const listening = await listen({ ...playing, kubeconfig }, reader);
  try {
    await Promise.all([listening.ready, server.watching]);
    await delay(rest);
    return await playTo(listening, server, playing.recording.frames, reader);
  } finally {
    await listening.stop();
    await server.stop();
  }
}

/** Time for the work after a list (garbage collection, jobs), ms. */
const rest = 2_000;

async function playTo(
  { pids, ended }: Listening,
  server: ReplayServer,
  frames: number,
  reader: Reader,
): Promise<ReplayRound> {
  const before = Object.entries(pids).map(([name, pid]) => [name, pid, cpuOf(pid)] as const);
  const others = watchOthers();
  const began = server.release();
  const at = await ended();
  const cpu = Object.fromEntries(
    before.map(([name, pid, earlier]) => [name, (1e6 * (cpuOf(pid) - earlier)) / frames]),
  );
  if (server.unknown.length > 0)
    throw new Error(`${reader} asked what was not recorded: ${server.unknown.join("; ")}`);
  const ours = (Object.values(cpu).reduce((a, b) => a + b, 0) * frames) / 1e6;
  return { reader, eventsPerSecond: (1_000 * frames) / (at - began), cpu, others: others(ours) };
}

/** A reader at work. */
interface Listening {
  readonly pids: Readonly<Record<string, number>>;
  readonly ready: Promise<unknown>;
  /** Resolves when it has worked through the recording, with the time: ms of the monotonic clock. */
  readonly ended: () => Promise<number>;
  stop(): Promise<void>;
}

type Where = Playing & { readonly kubeconfig: string };

function listen(where: Where, reader: Reader): Promise<Listening> {
  switch (reader) {
    case "bridge":
      return bridge(where);
    case "reflector, metadata":
    case "reflector, whole":
      return reflector(where, reader.endsWith("metadata"));
    case "controller-runtime, metadata":
    case "controller-runtime, whole":
      return controllerRuntime(where, reader.endsWith("metadata"));
  }
}

/** No worker takes the keys: the round ends when each key is due for its last version in the recording. */
async function bridge({ cluster, kubeconfig, recording, bridge: main }: Where): Promise<Listening> {
  const redis = await startRedis({ persistence: false });
  const ledger = viewLedger(redis.url);
  const { functions, folder } = cluster;
  const logFile = join(folder, "replay-bridge.log");
  const started = await startBridge({ kubeconfig, functions, redisUrl: redis.url, logFile, main });
  const keys = [...recording.versions.keys()];
  const reached = async (): Promise<boolean> => {
    const [end] = await ledger.versions([recording.end]);
    if (end !== recording.versions.get(recording.end)) return false;
    const versions = await ledger.versions(keys);
    return keys.every((key, i) => versions[i] === recording.versions.get(key));
  };
  return {
    pids: { bridge: started.process.pid, Redis: redis.pid },
    ready: started.ready(),
    async ended() {
      let asked = now();
      const look = (): Promise<boolean> => {
        asked = now();
        return reached();
      };
      await untilSo(started.process, "through with the recording", look, 5);
      return asked;
    },
    async stop() {
      ledger.close();
      await started.process.stop();
      await redis.stop();
    },
  };
}

async function reflector(
  { program, kubeconfig, cluster, recording }: Where,
  metadata: boolean,
): Promise<Listening> {
  const logFile = join(cluster.folder, "reflector.log");
  const go = await startGo({ program, kubeconfig, logFile, metadata, be: "reflector", end: recording.end });
  return {
    pids: { reflector: go.process.pid },
    ready: go.synced(),
    ended: go.ended,
    stop: () => go.process.stop().then(() => undefined),
  };
}

/** Ends with the begin of the last key's reconcile. */
async function controllerRuntime(
  { program, kubeconfig, cluster, recording }: Where,
  metadata: boolean,
): Promise<Listening> {
  const file = (suffix: string): string => join(cluster.folder, `replay-controller.${suffix}`);
  const go = await startGo({
    program,
    kubeconfig,
    metadata,
    be: "controller",
    logFile: file("log"),
    runs: file("runs"),
  });
  const runs = followRunLog(file("runs"));
  runs.read();
  return {
    pids: { "controller-runtime": go.process.pid },
    ready: go.synced(),
    async ended() {
      let at: number | undefined;
      await untilSo(go.process, "through with the recording", () => {
        at = runs.read().find(({ key }) => key === recording.end)?.at;
        return at !== undefined;
      });
      return at ?? NaN;
    },
    stop: () => go.process.stop().then(() => undefined),
  };
}
