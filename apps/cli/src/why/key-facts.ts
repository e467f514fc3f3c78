import { objectKeyIn, type ObjectKey, silentLog } from "@drover/controller";
import { type KubeClient, type KubeObject, isApiError, refOf, oldestFirst } from "@drover/kube";
import {
  type KeyReport,
  openWorkQueue,
  type PastRun,
  type QueueStats,
  type RedisConnection,
} from "@drover/queue";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { orEmbedded } from "../embedded-function.ts";

/** All that is known of one object: by the queue, and by the API server. */
export interface KeyFacts {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly fn: DeployedFunction;
  /** Undefined when there is none. */
  readonly object: KubeObject | undefined;
  /** Redis' clock, ms. */
  readonly now: number;
  readonly report: KeyReport;
  /** Newest first. */
  readonly runs: readonly PastRun[];
  readonly stats: QueueStats;
}

/** Which object a person means. */
export interface Meant {
  /** `plural.group`, a plural, a kind, or a function's name; of one with a bridge in its process the first. */
  readonly kind: string;
  /** `name` or `namespace/name`. */
  readonly name: string;
  /** For a name without one. */
  readonly namespace: string;
}

/** @throws CommandError when nobody can be meant. */
export async function keyFacts(
  { client, redis }: { readonly client: KubeClient; readonly redis: RedisConnection },
  meant: Meant,
): Promise<KeyFacts> {
  const fn = await deployedFunctions(client, undefined)
    .then((all) => functionFor(meant.kind, all))
    .catch(orEmbedded({ client, redis }, meant.kind));
  const { spec, name: controller } = fn;
  if (spec === undefined) {
    throw new CommandError(`The spec of ${fn.key} cannot be read: deploy it again, or see its status.`);
  }
  const key = keyMeant(meant, spec.for.scope);
  const queue = openWorkQueue({ redis, controller, log: silentLog, mayScan: false });
  try {
    const [object, { now }, { key: report, runs }, stats] = await Promise.all([
      objectOf(client, spec.for, key),
      queue.notRunSince([], 0),
      queue.inspect(key),
      queue.stats(answerWithin),
    ]);
    return { kind: spec.for.kind, key, fn, object, now, report, runs, stats };
  } finally {
    await queue.close();
  }
}

const answerWithin = 5_000;

async function objectOf(
  client: KubeClient,
  kind: Parameters<typeof refOf>[0],
  key: ObjectKey,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(refOf(kind), key);
  } catch (error) {
    if (isApiError(error, "NotServed")) return undefined;
    throw error;
  }
}

function functionFor(word: string, all: readonly DeployedFunction[]): DeployedFunction {
  const lower = word.toLowerCase();
  const names = ({ name, spec }: DeployedFunction): readonly string[] =>
    spec === undefined
      ? [name]
      : [name, `${spec.for.plural}.${spec.for.group}`, spec.for.plural, spec.for.kind.toLowerCase()];
  const named = inUse(all).filter((one) => names(one).includes(lower));
  const exact = named.filter(({ name }) => name === lower);
  const [only, ...others] = exact.length > 0 ? exact : named;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    const known = all.map(({ name }) => name).join(", ");
    throw new CommandError(
      `No function looks after ${JSON.stringify(word)}. ${known === "" ? "There is none at all" : `There are: ${known}`}.`,
    );
  }
  throw new CommandError(
    `Several functions look after ${JSON.stringify(word)}: ${named.map(({ name }) => name).join(", ")}. Write: drover why ${only.name} NAME`,
  );
}

/** Of several of one name the oldest is in use, as the bridge has it. */
function inUse(all: readonly DeployedFunction[]): readonly DeployedFunction[] {
  const objects = oldestFirst(all.map(({ object }) => object));
  return all.filter(({ name, object }) => objects.find(({ metadata }) => metadata.name === name) === object);
}

function keyMeant({ name, namespace }: Meant, scope: "Namespaced" | "Cluster"): ObjectKey {
  const text = scope === "Cluster" || name.includes("/") ? name : `${namespace}/${name}`;
  const key = objectKeyIn(text);
  if (key !== undefined) return key;
  throw new CommandError(`${JSON.stringify(name)} is no object's name. Give name, or namespace/name.`);
}
