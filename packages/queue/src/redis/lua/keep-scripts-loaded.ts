import type { Log, Milliseconds } from "@drover/controller";
import { Cluster, type Redis } from "ioredis";
import { loadedScripts } from "./loaded-scripts.ts";
import type { LoadableScript } from "./lua-script.ts";
import { openNeighbourScripts } from "./neighbour-scripts.ts";
import { redisErrorCode } from "../redis-errors.ts";
import { hostPortOf, primariesOf } from "../redis-servers.ts";

/** How often a server is checked for missing scripts: SCRIPT FLUSH and failovers notify no client. */
const checkInterval: Milliseconds = 1_000;

/**
 * Loads the scripts of this version of Drover into every server that receives writes, and again whenever one lacks
 * them: at once when a connection is back, and within a second after a SCRIPT FLUSH or a failover. Servers lose scripts
 * when they restart, and replicas do not receive them from their primary; a cluster's replicas get them in advance.
 *
 * @param recordAs the version of Drover. If it is given, this version's scripts are recorded in Redis under it, and those that
 * processes of other versions have recorded are loaded, too.
 * @returns when all primaries have the scripts. Loading goes on until the connection ends.
 * @throws ReplyError if Redis does not permit it.
 */
export async function keepScriptsLoaded(redis: Redis | Cluster, log: Log, recordAs?: string): Promise<void> {
  const neighbours = recordAs === undefined ? undefined : openNeighbourScripts(redis, log, recordAs);
  const underWay = new Set<Redis>();
  const keep = async (node: Redis): Promise<void> => {
    if (underWay.has(node)) return;
    underWay.add(node);
    try {
      await loadMissing(node, loadedScripts);
      for (const set of neighbours?.sets() ?? []) {
        await loadMissing(node, set.scripts).catch((error: unknown) => {
          // A text that is no Lua stays it; everything else passes.
          if (redisErrorCode(error) !== "ERR") throw error;
          neighbours?.reject(set, error);
        });
      }
    } catch (error) {
      log.warn({ err: error, node: hostPortOf(node) }, "Could not load scripts into Redis; trying again");
    } finally {
      underWay.delete(node);
    }
  };
  const watch = (node: Redis): void => void node.on("ready", () => void keep(node));
  if (redis instanceof Cluster) redis.on("+node", watch);
  for (const node of serversOf(redis)) watch(node);
  const timer = setInterval(() => {
    if (redis.status === "end") clearInterval(timer);
    void neighbours?.refresh();
    for (const node of serversOf(redis)) if (isReachable(node)) void keep(node);
  }, checkInterval);
  timer.unref();
  redis.once("end", () => clearInterval(timer));
  await Promise.all(primariesOf(redis).map((node) => loadMissing(node, loadedScripts)));
  void neighbours?.refresh();
}

/** A cluster's node that was not used yet has no connection, and opens one with the first command. */
const isReachable = ({ status }: Redis): boolean => status === "ready" || status === "wait";

const serversOf = (redis: Redis | Cluster): readonly Redis[] =>
  redis instanceof Cluster ? redis.nodes("all") : [redis];

async function loadMissing(node: Redis, scripts: readonly LoadableScript[]): Promise<void> {
  const has = await node.script("EXISTS", ...scripts.map(({ sha }) => sha));
  const loaded = Array.isArray(has) ? has : [];
  await Promise.all(scripts.filter((_, i) => loaded[i] !== 1).map(({ lua }) => node.script("LOAD", lua)));
}
