import { setTimeout as delay } from "node:timers/promises";
import { RefusedError } from "../bridge/cluster/api.ts";
import { cpuSince } from "../report/process-figures.ts";
import { countedByWhat, untilQuiet } from "./audit-log.ts";
import { type AtWork, type Contestant, pidsOf } from "./contestants.ts";
import type { Load } from "./loads.ts";
import type { Stage } from "./stage.ts";

/** What a load came to with one of the contestants. */
export interface Figures {
  readonly load: string;
  readonly contestant: Contestant;
  /** ms, of each thing that was asked for. */
  readonly times: readonly number[];
  /** Requests of the two controllers, by what they asked for. */
  readonly requests: Readonly<Record<string, number>>;
  /** CPU seconds of everything that takes part, until all is quiet. */
  readonly cpu: number;
  /** The same of the API server. */
  readonly apiServerCpu: number;
}

/** Does a load in a namespace of its own, which is gone afterwards. */
export async function measured(
  stage: Stage,
  contestant: Contestant,
  atWork: AtWork,
  load: Load,
): Promise<Figures> {
  const { audit, cluster } = stage;
  const ground = { stage, namespace: await makeNamespace(stage) };
  await load.given?.(ground);
  await untilQuiet(audit, atWork.isTheirs);
  const apiServer = pidsOf(cluster.pids(), "kube-apiserver");
  const pids = atWork.pids();
  const taken = cpuSince([...pids, ...apiServer]);
  const mark = await audit.mark();
  const times = await load.run(ground);
  await untilQuiet(audit, atWork.isTheirs);
  const sum = (of: readonly number[]): number => of.reduce((total, pid) => total + taken(pid), 0);
  const [cpu, apiServerCpu] = [sum(pids), sum(apiServer)];
  const requests = countedByWhat(await audit.since(mark), atWork.isTheirs);
  await removeNamespace(stage, ground.namespace);
  await untilQuiet(audit, atWork.isTheirs);
  return { load: load.title, contestant, times, requests, cpu, apiServerCpu };
}

let made = 0;

async function makeNamespace({ api }: Stage): Promise<string> {
  const name = `bench-${++made}`;
  await api.send("POST", "/api/v1/namespaces", { type: "application/json", content: { metadata: { name } } });
  // Pods are refused until it is there.
  while (!(await isThere(api, `/api/v1/namespaces/${name}/serviceaccounts/default`))) await delay(20);
  return name;
}

async function removeNamespace({ api }: Stage, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  await api.send("DELETE", path);
  while (await isThere(api, path)) await delay(100);
}

const isThere = (api: Stage["api"], path: string): Promise<boolean> =>
  api.send("GET", path).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RefusedError && error.status === 404) return false;
      throw error;
    },
  );
