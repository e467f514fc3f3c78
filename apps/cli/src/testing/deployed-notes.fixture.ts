import { customResourceDefinition, objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, createOrReplace, installCrd, type KubeClient, type KubeObject, refOf } from "@drover/kube";
import { type RedisServer, spawnTied, startRedis, type TiedProcess } from "@drover/local-servers";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryPath } from "../package/repository-path.ts";

/** The kind of the function, as its code has it. */
export const noteKind = { group: "tests.example.com", version: "v1", kind: "Note", plural: "notes" } as const;
export const notes = { ...noteKind, namespaced: true };
export const noteKey = (name: string) => objectKey({ namespace: "default", name });

/** A function that records each of its runs in a file: it is the only witness of what ran when. */
const code = `import { defineController, defineFunction, defineResource } from "drover";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

const Note = defineResource({
  group: "tests.example.com",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  spec: z.object({ count: z.int() }),
  status: z.object({ count: z.int(), by: z.string() }),
});
const { WITNESS = "/dev/null", ACTOR = "" } = process.env;
const by = ACTOR;
const witness = (what: string, key: string) => appendFileSync(WITNESS, [by, process.pid, what, key].join(" ") + "\\n");
/** False for a zombie. The state comes after the name, which may hold anything. */
const isAlive = (pid: string) =>
  existsSync(\`/proc/\${pid}/stat\`) && !/\\) Z [^)]*$/.test(readFileSync(\`/proc/\${pid}/stat\`, "utf8"));
/** The file has the process that runs the key. A process that was killed leaves it. */
const step = async (key: string) => {
  const holder = \`\${WITNESS}-\${key.replace("/", "-")}\`;
  const other = existsSync(holder) ? readFileSync(holder, "utf8") : "";
  if (other !== "" && isAlive(other)) witness("overlap", key);
  writeFileSync(holder, String(process.pid));
  witness("start", key);
  await delay(Math.random() * 500);
  witness("end", key);
  rmSync(holder, { force: true });
};
export const controller = defineController({
  for: Note,
  resyncEvery: "1h",
  async reconcile({ key, spec }) {
    await step(key);
    return { status: { count: spec.count, by } };
  },
  finalize: ({ key }) => step(key),
});
export default defineFunction({
  controller,
  deployment: { container: { image: "notes:1" }, scaling: { max: 1 } },
});
`;
const main = `import { runFunction, functionSettings, readSettings } from "drover/runtime";
import { controller } from "./function.ts";

const settings = () => readSettings(functionSettings, process.env);
await runFunction({ name: "notes", settings, controller: () => ({ controller }) });
`;

/** Makes the function's folder, with the modules of the repository. */
export function makeNotesFunction(folder: string): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "src/function.ts"), code);
  writeFileSync(join(folder, "src/main.ts"), main);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ type: "module", scripts: { start: "node src/main.ts" } }),
  );
  symlinkSync(repositoryPath("node_modules"), join(folder, "node_modules"));
}

/** The function as it is deployed: a bridge and a process of it, with a Redis of their own. */
export interface DeployedNotes {
  /** Kills the process of the function, and starts it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export interface DeployedNotesOptions {
  /** That of `makeNotesFunction`. */
  readonly folder: string;
  readonly client: KubeClient;
  readonly kubeconfig: string;
  /** The file in which runs are recorded. */
  readonly witness: string;
}

/** Registers the function in the cluster, without any process of it. */
export async function registerNotes({
  client,
  folder,
}: Pick<DeployedNotesOptions, "client" | "folder">): Promise<void> {
  const { default: fn } = (await import(join(folder, "src/function.ts"))) as {
    readonly default: {
      readonly controller: { readonly for: Parameters<typeof customResourceDefinition>[0] };
    };
  };
  await installCrd(client, { ...customResourceDefinition(fn.controller.for) });
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  await createOrReplace(client, builtin.namespace, { metadata: { name: "drover" } });
  await createOrReplace(client, refOf(ReconcileFunction), {
    metadata: { name: "notes.tests.example.com", namespace: "default" },
    spec: { for: { ...noteKind, scope: "Namespaced" } },
  });
}

export async function deployNotes(options: DeployedNotesOptions): Promise<DeployedNotes> {
  const { folder, kubeconfig, witness } = options;
  await registerNotes(options);
  const redis = await startRedis({ persistence: true });
  const start = processesOf(redis, kubeconfig);
  const bridge = await start("bridge", "/", repositoryPath("apps/bridge/src/main.ts"), {
    DROVER_AUTHORS: "trusted",
  });
  const startFunction = () =>
    start("notes", folder, "src/main.ts", {
      DROVER_FUNCTION: "default/notes.tests.example.com",
      // Taken over soon after a crash.
      DROVER_LEASE: "1s",
      DROVER_LEASE_RENEWAL: "300ms",
      WITNESS: witness,
      ACTOR: "deployed",
    });
  let fn = await startFunction();
  return {
    async crash() {
      fn.kill("SIGKILL");
      await fn.exited;
      fn = await startFunction();
    },
    async stop() {
      await Promise.all([fn.stop(), bridge.stop()]);
      await redis.stop();
    },
  };
}

/** Starts processes, each until it works: a bridge that watches the kind, a function that takes keys. */
const processesOf =
  (redis: RedisServer, kubeconfig: string) =>
  async (
    name: string,
    cwd: string,
    module: string,
    env: Readonly<Record<string, string>>,
  ): Promise<TiedProcess> => {
    const works = Promise.withResolvers<undefined>();
    const child = await spawnTied({
      name,
      command: process.execPath,
      args: [module],
      cwd,
      logFile: join(redis.dir, `${name}.log`),
      env: {
        DROVER_TEST_CLUSTER: undefined,
        DROVER_KUBECTL: undefined,
        DROVER_REDIS_URL: redis.url,
        DROVER_KUBECONFIG: kubeconfig,
        ...env,
      },
      onLine: (line) => /"Taking keys"|; watching/.test(line) && works.resolve(undefined),
    });
    const ended = child.exited.then(() => {
      throw new Error(`${name} ended: ${readFileSync(child.logFile, "utf8")}`);
    });
    ended.catch(() => undefined);
    await Promise.race([works.promise, ended]);
    return child;
  };

/** A run as it was recorded. */
export interface WitnessedRun {
  readonly by: string;
  readonly key: string;
}

/**
 * All runs so far, by their start. The lines `here` and `left` of a test are the time in which only its session may run a
 * key; `free` is when the label was gone.
 *
 * @throws if two runs of a key overlapped, the deployed function began one in such a time, or a session was still in one
 *   when the label was gone.
 */
export function witnessedRuns(witness: string): readonly WitnessedRun[] {
  const newest = new Map<string, string>();
  const reserved = new Set<string>();
  /** The last session that ran a key, by its process. */
  const sessions = new Map<string, string>();
  const freed = new Set<string>();
  const runs: WitnessedRun[] = [];
  for (const [at, line] of readFileSync(witness, "utf8").trim().split("\n").entries()) {
    const [by = "", pid = "", what, key = ""] = line.split(" ");
    const problem = (why: string) => new Error(`Line ${at + 1}, ${line}: ${why}`);
    if (what === "overlap") throw problem("a process that lives has begun a run of it, and has not ended it");
    if (what === "here") reserved.add(key);
    if (what === "free") freed.add(`${key} ${sessions.get(key) ?? ""}`);
    if (by === "session" && freed.has(`${key} ${pid}`)) throw problem("its label is gone");
    if (by === "session") sessions.set(key, pid);
    if (what === "left") reserved.delete(key);
    if (what === "end" && newest.get(key) !== pid)
      throw problem("another process has begun a run of it meanwhile");
    if (what !== "start") continue;
    if (reserved.has(key) && by === "deployed") throw problem("a session reconciles it");
    newest.set(key, pid);
    runs.push({ by, key });
  }
  return runs;
}

export const noteIn = (client: KubeClient, name: string): Promise<KubeObject | undefined> =>
  client.get(notes, noteKey(name));
