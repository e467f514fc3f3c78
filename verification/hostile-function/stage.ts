import { type FunctionIdentity, queueOf, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, openWorkQueue, redisUserRules } from "@drover/queue";
import { Redis } from "ioredis";
import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { sandboxInFolder } from "../harness/sandbox-in-folder.ts";
import { coreKind, namespaceNamed } from "../harness/manifests.ts";
import { root } from "../harness/repository-files.ts";
import { startProcess } from "../harness/start-process.ts";
import type { HostileSettings } from "./hostile.ts";
import { countsSchema, type HostileCounts, hostileMark } from "./mark.ts";

/** The shipped bridge, a neighbouring function at work, and a function that can be turned hostile. */
export interface HostileStage extends AsyncDisposable {
  /** Changes the object of that number, and resolves when the neighbour's run for it has begun: to the time that took, ms. */
  readonly react: (object: number) => Promise<number>;
  /** The function does all that it can from now on; what stops it answers what it has done. */
  readonly turnHostile: (seed: number) => Promise<() => Promise<HostileCounts>>;
  /** Whether its Redis has refused writes for want of memory, and connections. */
  readonly isExhausted: () => Promise<boolean>;
  /** What it has got that is not its own, in words; nothing when all is well. */
  readonly trespasses: () => Promise<readonly string[]>;
}

const configMaps = coreKind("ConfigMap");
/** As docs/operating-redis.md has it, and so small that one process reaches its ends. */
const hostileServer = [
  ...["--maxmemory", "64mb", "--maxclients", "150", "--proto-max-bulk-len", "16mb"],
  ...["--client-query-buffer-limit", "32mb", "--lazyfree-lazy-user-del", "yes"],
];
/** What a Pod's share of processor time does, as manifests and docs/operating-redis.md have it: others on the machine go first. */
const lowest = 19;

/** @param shared one Redis for all, in place of one for Drover, one for the neighbour and one for the hostile function. */
export async function openStage(shared: boolean): Promise<HostileStage> {
  const stage = await sandboxInFolder();
  const { folder, kubeconfig, request, post } = stage;
  const crd = z.looseObject({}).parse(parse(readFileSync(join(root, "apps/bridge/deploy/crd.yaml"), "utf8")));
  await stage.define(crd);
  const register = async (namespace: string): Promise<FunctionIdentity> => {
    await post("/api/v1/namespaces", namespaceNamed(namespace));
    // Two names: if two functions have the same name and are for the same objects, the bridge uses only the older one.
    return stage.register(`maps-of-${namespace}`, { for: configMaps }, namespace);
  };
  const [evil, victim] = [await register("evil"), await register("victim")];
  const drover = await startRedis({ persistence: false, args: shared ? ["--maxclients", "1000"] : [] });
  const ofVictim = shared ? drover : await startRedis({ persistence: false });
  const ofEvil = shared ? drover : await startRedis({ persistence: false, args: hostileServer });
  if (!shared) setPriority(ofEvil.pid, lowest);
  const tenants = join(folder, "tenants.yaml");
  const entries = [
    { namespaces: ["evil"], url: ofEvil.url },
    { namespaces: ["victim"], url: ofVictim.url },
  ];
  writeFileSync(tenants, JSON.stringify(shared ? [] : entries));
  const bridge = await startProcess({
    name: "bridge",
    main: "apps/bridge/src/main.ts",
    logFile: join(folder, "bridge.log"),
    awaited: "; watching",
    env: {
      DROVER_REDIS_URL: drover.url,
      DROVER_KUBECONFIG: kubeconfig,
      DROVER_AUTHORS: "trusted",
      DROVER_TENANTS_FILE: tenants,
    },
  });
  const neighbour = await startNeighbour(ofVictim, queueOf(victim));
  const admin = new Redis(ofEvil.url);
  const watch = await watchTrespasses({ shared, admin, evil, victim });
  return {
    async react(object) {
      const name = `m${object}`;
      const begun = performance.now();
      const started = neighbour.started(`default/${name}`);
      const body = { metadata: { name }, data: { at: String(begun) } };
      const changed = await request("PATCH", `/api/v1/namespaces/default/configmaps/${name}`, body);
      if (changed.status === 404) await post("/api/v1/namespaces/default/configmaps", body);
      return (await started) - begun;
    },
    async turnHostile(seed) {
      const url = new URL(ofEvil.url);
      [url.username, url.password] = ["hostile", "secret"];
      const settings: HostileSettings = {
        url: url.href,
        prefix: watch.prefix,
        foreign: watch.foreign,
        seed,
        connections: shared ? 50 : 300,
      };
      const last: { counts: HostileCounts } = { counts: { done: 0, denied: 0, full: 0, refused: 0 } };
      const child = await startProcess({
        name: "hostile",
        main: "verification/hostile-function/hostile.ts",
        logFile: join(folder, "hostile.log"),
        args: [JSON.stringify(settings)],
        onLine(line, stream) {
          if (stream === "stdout") last.counts = countsSchema.parse(JSON.parse(line));
        },
      });
      setPriority(child.pid, lowest);
      return async () => {
        if (!child.kill("SIGKILL")) throw new Error(readFileSync(child.logFile, "utf8"));
        await child.exited;
        return last.counts;
      };
    },
    async isExhausted() {
      const [stats, errors] = [await admin.info("stats"), await admin.info("errorstats")];
      return /rejected_connections:[1-9]/.test(stats) && errors.includes("errorstat_OOM:");
    },
    trespasses: () => watch.found(),
    async [Symbol.asyncDispose]() {
      await bridge.stop();
      await neighbour.close();
      watch.close();
      await Promise.all([...new Set([drover, ofVictim, ofEvil])].map((server) => server.stop()));
      await stage[Symbol.asyncDispose]();
    },
  };
}

/** The neighbour's function: runs only report their begin. */
async function startNeighbour(server: RedisServer, controller: string) {
  const redis = await connectRedis({ url: server.url, clientName: "neighbour", log: silentLog });
  const queue = openWorkQueue({ redis, controller, log: silentLog, upkeep: "own" });
  const waiting = new Map<string, (at: number) => void>();
  const worker = queue.work(
    ({ key }) => {
      waiting.get(key)?.(performance.now());
      return Promise.resolve({ kind: "done" });
    },
    { concurrency: 8, timeout: 10_000 },
  );
  return {
    started: (key: string) =>
      new Promise<number>((resolve) => {
        waiting.set(key, (at) => {
          waiting.delete(key);
          resolve(at);
        });
      }),
    async close() {
      await worker.drain(0);
      await queue.close();
      await disconnectRedis(redis);
    },
  };
}

/** Sees, by the server's own account, what the hostile user got beyond what is its own. */
async function watchTrespasses(of: {
  shared: boolean;
  admin: Redis;
  evil: FunctionIdentity;
  victim: FunctionIdentity;
}) {
  const { admin, shared } = of;
  const prefix = `{drover:${queueOf(of.evil)}}`;
  const rules = redisUserRules({ role: "function", controllers: [queueOf(of.evil)] });
  await admin.call("ACL", "SETUSER", "hostile", ...rules.split(" "), ">secret");
  const canaries = [
    `{drover:${queueOf(of.victim)}}`,
    "{drover.system:a/b/c}",
    "{drover-stream:x}",
    "{drover-bridges}",
  ].map((each) => `${each}:canary`);
  const foreign = [...canaries, `{drover:${queueOf(of.victim)}}:control`, `{drover:${queueOf(of.victim)}}`];
  const contents = (): Promise<readonly (string | null)[]> =>
    Promise.all(canaries.map((key) => admin.get(key)));
  // In a tenant's own Redis there is nothing of others: what it might touch is put there.
  await admin.mset(canaries.flatMap((key) => [key, "canary"]));
  const monitor = shared ? await admin.monitor() : undefined;
  const ran = new Set<string>();
  monitor?.on("monitor", (_time: string, [command = "", what = ""]: readonly string[], source: string) => {
    if (source === "lua") return;
    if (/^(eval|eval_ro|fcall|fcall_ro|function)$/i.test(command))
      ran.add(`${command} ${what}`.slice(0, 300));
    if (/^script$/i.test(command) && /^load$/i.test(what)) ran.add("SCRIPT LOAD");
  });
  const markedKeys = async (): Promise<readonly string[]> => {
    const keys = await admin.keys("*");
    const others = keys.filter((key) => !key.startsWith(prefix));
    const dumped = await Promise.all(others.map((key) => admin.dumpBuffer(key)));
    return others.filter((_, i) => dumped[i]?.includes(hostileMark) === true);
  };
  return {
    prefix,
    foreign,
    async found() {
      const changed = (await contents()).flatMap((content, i) =>
        content === "canary" ? [] : [canaries[i] ?? ""],
      );
      const users = await admin.call("ACL", "LIST");
      const grown =
        Array.isArray(users) && users.some((line) => /^user hostile .*(\+@all|~\* )/.test(String(line)));
      return [
        ...changed.map((key) => `${key} is not what it was`),
        ...(await markedKeys()).map((key) => `${key} has what it wrote`),
        // Bridges send scripts with their text, too: what counts is the hostile one's.
        ...[...ran].filter((script) => script.includes(hostileMark)).map((script) => `it ran ${script}`),
        ...(grown ? ["its user has more than it had"] : []),
      ];
    },
    close() {
      monitor?.disconnect();
      admin.disconnect();
    },
  };
}
