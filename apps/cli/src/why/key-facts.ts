import { objectKeyIn, type ObjectKey, queueOf, silentLog } from "@drover/controller";
import { type KubeClient, type KubeObject, isApiError, refOf } from "@drover/kube";
import {
  hasWorkQueue,
  type KeyReport,
  openWorkQueue,
  type PastRun,
  type QueueStats,
  type RedisConnection,
} from "@drover/queue";
import { CommandError } from "../command-error.ts";
import { crdsNamed } from "../crds-named.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { orEmbedded } from "../embedded-function.ts";
import { elsewhere } from "../redis-option.ts";

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
  /** `plural.group`, a plural, a kind, or a function: `name` or `namespace/name`; of one with a bridge in its process the first. */
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
  const fn = await functionMeant({ client, redis }, meant);
  const { spec, identity } = fn;
  if (spec === undefined) {
    throw new CommandError(`The spec of ${fn.key} cannot be read: deploy it again, or see its status.`);
  }
  const key = keyMeant(meant, spec.for.scope);
  const controller = queueOf(identity);
  if (!(await hasWorkQueue(redis, controller))) throw new CommandError(elsewhere([fn.key]));
  const queue = openWorkQueue({ redis, controller, log: silentLog, upkeep: "none" });
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

/** By the words of a ReconcileFunction, else by those that only the kind's CRD has: its singular and its short names. */
async function functionMeant(
  { client, redis }: { readonly client: KubeClient; readonly redis: RedisConnection },
  meant: Meant,
): Promise<DeployedFunction> {
  const look = (kind: string): Promise<DeployedFunction> =>
    deployedFunctions(client, undefined)
      .then((all) => functionFor({ ...meant, kind }, all))
      .catch(orEmbedded({ client, redis }, kind));
  return look(meant.kind).catch(async (error: unknown) => {
    if (!(error instanceof UnknownKindError)) throw error;
    const crds = await crdsNamed(client, meant.kind);
    const found = await Promise.all(
      crds.map(({ metadata: { name } }) =>
        look(name).catch((none: unknown) => {
          if (none instanceof UnknownKindError) return undefined;
          throw none;
        }),
      ),
    );
    const [only, ...others] = found.filter((one) => one !== undefined);
    if (only === undefined) throw error;
    if (others.length > 0) throw severalFor(meant.kind, [only, ...others]);
    return only;
  });
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

function functionFor(meant: Meant, all: readonly DeployedFunction[]): DeployedFunction {
  const word = meant.kind;
  const lower = word.toLowerCase();
  const names = ({ key, name, spec }: DeployedFunction): readonly string[] =>
    spec === undefined
      ? [key, name]
      : [key, name, `${spec.for.plural}.${spec.for.group}`, spec.for.plural, spec.for.kind.toLowerCase()];
  const named = all.filter((one) => names(one).includes(lower));
  const exact = named.filter(({ key, name }) => [key, name].includes(lower));
  const found = exact.length > 0 ? exact : named;
  const covering = found.filter(({ spec }) => spec?.for.namespaces?.includes(namespaceOf(meant)) ?? true);
  const [only, ...others] = covering.length > 0 ? covering : found;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    const known = all.map(({ key }) => key).join(", ");
    throw new UnknownKindError(
      `No function looks after ${JSON.stringify(word)}. ${known === "" ? "There is none at all" : `There are: ${known}`}.`,
    );
  }
  throw severalFor(word, [only, ...others]);
}

/** No function has that word for its kind. */
class UnknownKindError extends CommandError {
  override readonly name = "UnknownKindError";
}

const severalFor = (
  word: string,
  functions: readonly [DeployedFunction, ...DeployedFunction[]],
): CommandError =>
  new CommandError(
    `Several functions look after ${JSON.stringify(word)}: ${functions.map(({ key }) => key).join(", ")}. Write: drover why ${functions[0].key} NAME`,
  );

/** The namespace of the object that is meant, where its kind has namespaces. */
const namespaceOf = ({ name, namespace }: Meant): string =>
  name.includes("/") ? name.slice(0, name.indexOf("/")) : namespace;

/** @throws CommandError where that is the name of no object. */
export function keyMeant({ name, namespace }: Meant, scope: "Namespaced" | "Cluster"): ObjectKey {
  const text = scope === "Cluster" || name.includes("/") ? name : `${namespace}/${name}`;
  const key = objectKeyIn(text);
  if (key !== undefined) return key;
  throw new CommandError(`${JSON.stringify(name)} is no object's name. Give name, or namespace/name.`);
}
