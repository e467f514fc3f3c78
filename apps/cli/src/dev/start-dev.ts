import {
  customResourceDefinition,
  type ObjectKey,
  type QueueName,
  queueOf,
  ReconcileFunction,
} from "@drover/controller";
import { openBridge, registrationOf } from "@drover/bridge";
import {
  builtin,
  contextNamespace,
  createOrReplace,
  installCrd,
  isApiError,
  keyOf,
  refOf,
} from "@drover/kube";
import { deleteKeys, scanQueueKeys } from "@drover/queue";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import {
  type ClusterChoice,
  type ClusterSession,
  type ClusterSessionOptions,
  openClusterSession,
} from "./cluster/cluster-session.ts";
import { type DevServers, startDevServers } from "./dev-servers.ts";
import { type ExampleObjects, exampleFilesAt, exampleObjects } from "./example-objects.ts";
import { functionFolder, isRun } from "./function-folder.ts";
import { type FunctionProcess, type RegisteredFunction, startFunctionProcess } from "./function-process.ts";
import { type DevManifests, loadManifests } from "./load-manifests.ts";
import { logTo } from "./log-line.ts";
import { nextRunOf } from "./next-run.ts";
import { restartLimit } from "./restart-limit.ts";
import { stopOnRequest } from "./stop-request.ts";
import { openStory, type Story } from "./story.ts";
import { watchFolder } from "./watch-folder.ts";

export interface DevOptions {
  /** The function's folder. */
  readonly folder: string;
  /** The command line that runs the function. Default: as the folder shows. */
  readonly run: string | undefined;
  /** Paths of example objects. If empty: those of the folder. */
  readonly examples: readonly string[];
  /** The port of the API server; 0 takes a free one. */
  readonly port: number;
  /** The URL of a given Redis. */
  readonly redis: string | undefined;
  /** A given cluster, and what to reconcile there. Default: an API server of the session's own. */
  readonly cluster?: ClusterChoice | undefined;
}

/** One session, from its start to Ctrl-C: the state that its steps share. */
interface Session {
  readonly options: DevOptions;
  readonly folder: ReturnType<typeof functionFolder>;
  readonly scratch: string;
  readonly stop: AbortController;
  readonly story: Story;
  readonly servers: DevServers;
  readonly bridge: ReturnType<typeof openBridge>;
  /** Undefined on an API server of the session's own. */
  readonly cluster: ClusterSession | undefined;
  /** The queues that the function has had: one for each name. */
  readonly queues: Set<QueueName>;
  /** The function as it is in the API server now. */
  registered: RegisteredFunction | undefined;
  /** Undefined while none runs. */
  process: FunctionProcess | undefined;
}

/**
 * Runs a function, and starts it again when a file has changed, until Ctrl-C: on an API server and a Redis of its own, of
 * which nothing is kept, or for objects of a given cluster.
 *
 * @throws CommandError if it cannot start, or a server ends.
 */
export async function startDev(options: DevOptions): Promise<void> {
  const folder = functionFolder(options.folder, options.run);
  const examples = options.examples.flatMap(exampleFilesAt);
  const stop = stopOnRequest();
  await using opened = new AsyncDisposableStack();
  using watched = watchFolder(folder.path, examples);
  const scratch = temporaryFolder(opened);
  const state: { session?: Session } = {};
  const story = openStory(
    (line) => console.log(line),
    (key) => nextRun(state.session, key),
    (key) => state.session?.cluster?.isHere(key) === false,
  );
  opened.defer(() => story.done());
  try {
    const session = await openSession({ options, folder, scratch, stop, story }, opened);
    state.session = session;
    const objects = examplesOf(session, examples);
    const limit = restartLimit(
      () => performance.now(),
      (file) =>
        story.print(
          `${file} changes again and again soon after a start, so the function is now started again later. If it writes ` +
            "this file itself, let it write elsewhere.",
        ),
    );
    printGuide(session);
    limit.started();
    await session.cluster?.begin((key) => wake(session, key));
    await objects.apply();
    for (;;) {
      const changed = await watched.changes(stop.signal);
      if (stop.signal.aborted) break;
      const reasons = changed.filter((path) => !objects.has(path) && isRun(folder, path));
      if (reasons.length > 0) {
        await sleep(limit.delayFor(reasons), undefined, { signal: stop.signal });
        await restart(session, reasons);
        limit.started();
      }
      const changedExamples = changed.filter((path) => objects.has(path));
      await objects.apply([
        ...new Set([...changedExamples, ...(reasons.length > 0 ? objects.refused() : [])]),
      ]);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  story.print("Stopping. Ctrl-C again ends everything at once.");
  const reason: unknown = stop.signal.reason;
  if (reason instanceof CommandError) throw reason;
}

const nextRun = async (session: Session | undefined, key: string): Promise<string> =>
  session?.registered === undefined
    ? ""
    : nextRunOf(session.bridge, queueOf(session.registered.identity), key);

/** In a cluster only examples that are given, for objects of the function's kind. */
function examplesOf({ folder, servers, cluster, story }: Session, given: readonly string[]): ExampleObjects {
  const user = cluster?.user ?? servers.sandbox?.user;
  const isNone = user === undefined || (cluster !== undefined && given.length === 0);
  return isNone ? noExamples : exampleObjects(folder.path, given, { user, story });
}

const noExamples: ExampleObjects = {
  has: () => false,
  apply: () => Promise.resolve(),
  refused: () => [],
};

/** Runs a key of the function as it is now. */
async function wake({ registered, bridge }: Session, key: ObjectKey): Promise<void> {
  if (registered !== undefined) await bridge.queueOf(queueOf(registered.identity)).force([key]);
}

const ignored = [() => undefined, () => undefined] as const;

/** A folder that goes with this process, also when it is ended by a second Ctrl-C. */
function temporaryFolder(opened: AsyncDisposableStack): string {
  const path = mkdtempSync(join(tmpdir(), "drover-dev-"));
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  process.on("exit", remove);
  opened.defer(() => {
    process.off("exit", remove);
    remove();
  });
  return path;
}

/** Starts the servers, the bridge and the function. */
async function openSession(
  parts: Pick<Session, "options" | "folder" | "scratch" | "stop" | "story">,
  opened: AsyncDisposableStack,
): Promise<Session> {
  const { options, folder, scratch, stop, story } = parts;
  const { signal } = stop;
  const manifests = loadManifests(folder, scratch, signal);
  const loaded = manifests.then(...ignored);
  // Its process may still write to the temporary folder.
  opened.defer(() => loaded);
  const log = { ...logTo((line) => story.log(line)), debug: () => undefined, info: () => undefined };
  const servers = await startDevServers({ ...options, folder: scratch, log, stop }, opened);
  const { client, redis, sandbox } = servers;
  if (sandbox !== undefined)
    await installCrd(client, { ...customResourceDefinition(ReconcileFunction) }, { signal });
  const cluster = await clusterOf(options, { client, folder, story, log }, manifests);
  // A group of its own: in a given Redis, other bridges follow other API servers.
  const group = `dev-${randomUUID()}`;
  const bridge = openBridge({ client, redis, log, compareEvery: 30 * 60_000, embeddedIn: group });
  const session: Session = {
    ...parts,
    servers,
    bridge,
    cluster,
    queues: new Set(),
    registered: undefined,
    process: undefined,
  };
  // A given Redis is left as it was.
  const isGiven = options.redis !== undefined;
  if (isGiven) opened.defer(() => deleteQueues(session));
  opened.defer(() => bridge.close());
  if (isGiven) opened.defer(() => forgetStreams(session));
  if (cluster !== undefined) opened.defer(() => cluster.end());
  opened.defer(() => session.process?.stop());
  await register(session, await manifests);
  await startProcess(session);
  return session;
}

/** The session in the given cluster; undefined if none is given. */
async function clusterOf(
  { cluster: choice }: DevOptions,
  parts: Pick<ClusterSessionOptions, "client" | "folder" | "story" | "log">,
  manifests: Promise<DevManifests>,
): Promise<ClusterSession | undefined> {
  if (choice === undefined) return undefined;
  const namespace = (await contextNamespace(choice)) ?? "default";
  return openClusterSession({ ...parts, choice, namespace }, await manifests);
}

/** Brings the bridge, and the session's own API server, to the function's manifests. */
async function register(session: Session, manifests: DevManifests): Promise<void> {
  const { bridge, cluster } = session;
  const { identity, manifest } =
    cluster === undefined
      ? await registerInSandbox(session, manifests)
      : await registerInSession(session, cluster, manifests);
  bridge.register([registrationOf(identity, manifest.spec)]);
  session.queues.add(queueOf(identity));
  session.registered = { identity, manifest };
}

/** Nothing of a function is written to a given cluster: its deployer would deploy it. */
async function registerInSession(
  { registered }: Session,
  cluster: ClusterSession,
  manifests: DevManifests,
): Promise<RegisteredFunction> {
  const manifest = await cluster.restrict(manifests);
  const { name, namespace = "default" } = manifest.metadata;
  return { identity: { name, namespace, uid: registered?.identity.uid ?? randomUUID() }, manifest };
}

/** @throws CommandError if a CRD is refused. */
async function registerInSandbox(
  session: Session,
  { crds, manifest }: DevManifests,
): Promise<RegisteredFunction> {
  const { client } = session.servers;
  const { name, namespace = "default" } = manifest.metadata;
  for (const crd of crds) await installCrd(client, crd).catch(explainCrd(crd.metadata.name));
  if (namespace !== "default")
    await createOrReplace(client, builtin.namespace, { metadata: { name: namespace } });
  const object = { metadata: { name, namespace }, spec: manifest.spec };
  const { metadata } = await createOrReplace(client, refOf(ReconcileFunction), object);
  const identity = { name, namespace, uid: metadata.uid };
  const before = session.registered?.identity;
  if (before !== undefined && before.uid !== identity.uid)
    await client.delete(refOf(ReconcileFunction), keyOf({ metadata: before }));
  return { identity, manifest };
}

const explainCrd = (name: string) => (cause: unknown) => {
  if (!isApiError(cause, "Invalid")) throw cause;
  throw new CommandError(`The API server refuses the CRD ${name}: ${cause.message}`, { cause });
};

async function startProcess(session: Session): Promise<void> {
  const { registered, stop, story } = session;
  if (registered === undefined) return;
  const started = await startFunctionProcess(session, registered, stop.signal);
  session.process = started;
  story.print(`The function runs: process ${started.pid}.`);
}

/** The number of changed files that are named. */
const named = 5;

/** Never rejects for a reason that the next change may remove: the function then stays ended. */
async function restart(session: Session, changed: readonly string[]): Promise<void> {
  const { story, stop, folder, scratch, bridge } = session;
  const more = changed.length > named ? ` and ${changed.length - named} more` : "";
  story.print(`Changed: ${changed.slice(0, named).join(", ")}${more}. Starting the function again.`);
  const ended = session.process?.stop();
  session.process = undefined;
  try {
    const [manifests] = await Promise.all([loadManifests(folder, scratch, stop.signal), ended]);
    await register(session, manifests);
    await startProcess(session);
    // The new code sees every object.
    if (session.registered !== undefined)
      await bridge.queueOf(queueOf(session.registered.identity)).forceAll();
  } catch (error) {
    // The old process may still write: the servers must not end before it.
    await ended;
    stop.signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    story.print(`${error.message}\nIt is started again at the next change of a file.`);
  }
}

function printGuide({ servers, story, options, registered, cluster }: Session): void {
  const { name = "", namespace = "" } = registered?.identity ?? {};
  const redis = options.redis === undefined ? ` DROVER_REDIS_URL=${servers.redisUrl}` : "";
  const where =
    servers.sandbox === undefined
      ? `in the cluster of ${servers.kubeconfig}`
      : `on an API server of its own, ${servers.sandbox.url}`;
  story.print(
    `The function ${namespace}/${name} runs ${where}, and on ${servers.redisName}.\n` +
      "For kubectl and drover in another terminal:\n" +
      `  export KUBECONFIG=${servers.kubeconfig}${redis}\n` +
      (cluster?.guide ?? "Ctrl-C ends it. All objects are lost then."),
  );
}

/** How long the bridge may take to delete what it has stored in a given Redis, ms. */
const forgetsWithin = 10_000;

/** Lets the bridge delete what it has stored about the kinds that it followed. */
async function forgetStreams({ bridge }: Session): Promise<void> {
  bridge.register([]);
  const until = performance.now() + forgetsWithin;
  while (bridge.followed().length > 0 && performance.now() < until) await sleep(50);
}

/** Deletes the function's queues, after all that writes to them has ended. */
async function deleteQueues({ servers: { redis }, queues }: Session): Promise<void> {
  for (const queue of queues) {
    const scan = scanQueueKeys(redis, queue);
    while (await scan.step((keys) => deleteKeys(redis, keys)));
  }
}
