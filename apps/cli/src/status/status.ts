import { oneLine, rolledOutCondition } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { orEmbedded } from "../embedded-function.ts";
import { describeAbsentParts } from "../find-absent-parts.ts";
import { conditionOf, type ObjectCondition } from "../object-conditions.ts";
import { queueNotFoundMessage, withRedis } from "../redis-option.ts";
import { shortDuration } from "../short-duration.ts";
import { table } from "../table.ts";
import { liveFigures, reportedFigures, type FunctionFigures } from "./function-figures.ts";

/** The status of a function, as shown. */
export interface FunctionStatus extends FunctionFigures {
  readonly namespace: string;
  readonly name: string;
  /** The Ready condition; undefined until the deployer has written one. */
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
  readonly rolledOut: FunctionStatus["ready"];
  /** True if the spec pauses the function. `paused` is the number of paused keys that would be due. */
  readonly functionPaused: boolean;
  readonly pods: number | undefined;
  readonly readyPods: number | undefined;
}

export interface FunctionStatusReport {
  /** The source of the counts: Redis, live; or the functions' status, as last written. */
  readonly figures: "redis" | "status";
  readonly functions: readonly FunctionStatus[];
  /** Functions without a queue in this Redis: their counts are from their status. */
  readonly elsewhere?: readonly string[];
  /** The parts of Drover that these functions need and that do not run, a sentence each. */
  readonly notRunning: readonly string[];
}

export interface StatusOptions {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly redis: string | undefined;
  /** The namespace in which Drover is installed. */
  readonly droverNamespace: string;
}

/**
 * The status of functions. An embedded function is found by its name, `plural.group`, and only in Redis.
 *
 * @throws CommandError if no function has that name, or its queue is not in that Redis.
 */
export async function readStatuses(
  client: KubeClient,
  { redis: url, droverNamespace, ...options }: StatusOptions,
): Promise<FunctionStatusReport> {
  const absentOf = (all: readonly DeployedFunction[]) => describeAbsentParts(client, all, droverNamespace);
  if (url === undefined) {
    const meant = await findFunctions(client, options);
    const functions = meant.map((one) => statusFrom(one, reportedFigures(one)));
    return { figures: "status", functions, notRunning: await absentOf(meant) };
  }
  return withRedis(url, async (redis) => {
    const meant = await findFunctions(client, options).catch(async (error: unknown) => {
      if (options.name === undefined) throw error;
      return [await orEmbedded({ client, redis }, options.name)(error)];
    });
    const functions: FunctionStatus[] = [];
    const absent: string[] = [];
    for (const one of meant) {
      const figures = await liveFigures(redis, one);
      if (figures === undefined) absent.push(one.key);
      functions.push(statusFrom(one, figures ?? reportedFigures(one)));
    }
    if (options.name !== undefined && absent.length > 0) throw new CommandError(queueNotFoundMessage(absent));
    const notRunning = await absentOf(meant);
    return { figures: "redis", functions, notRunning, ...(absent.length > 0 && { elsewhere: absent }) };
  });
}

async function findFunctions(
  client: KubeClient,
  { namespace, name }: Pick<StatusOptions, "namespace" | "name">,
): Promise<readonly DeployedFunction[]> {
  const all = await deployedFunctions(client, namespace);
  if (name === undefined) return all;
  const named = all.filter((one) => one.name === name);
  if (named.length === 0) throw noSuch(name, namespace, all);
  return named;
}

function noSuch(name: string, namespace: string | undefined, all: readonly DeployedFunction[]): CommandError {
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const known =
    all.length === 0 ? "There are no functions" : `There are: ${all.map((one) => one.name).join(", ")}`;
  const hint = namespace === undefined ? "" : " -A looks in all namespaces.";
  return new CommandError(`There is no function ${name}${where}. ${known}.${hint}`);
}

function statusFrom({ namespace, name, object, status }: DeployedFunction, figures: FunctionFigures) {
  const { replicas, readyReplicas, paused: functionPaused = false } = status;
  return {
    namespace,
    name,
    functionPaused,
    ready: shownCondition(conditionOf(object)),
    rolledOut: shownCondition(conditionOf(object, rolledOutCondition)),
    pods: replicas,
    readyPods: readyReplicas,
    ...figures,
  };
}

const shownCondition = (condition: ObjectCondition | undefined): FunctionStatus["ready"] =>
  condition && { status: condition.status, reason: condition.reason, message: condition.message };

const headings = [
  ...["NAMESPACE", "NAME", "READY", "REASON", "ROLLED OUT", "PODS", "DUE", "RUNNING", "WAITING", "FAILING"],
  ...["PARKED", "PAUSED", "OLDEST DUE"],
];

/** The statuses as a table; `-` for an unknown value. */
export const statusTable = ({ functions }: FunctionStatusReport): readonly string[] =>
  table(
    headings,
    functions.map((one) => [
      ...[one.namespace || "-", one.name, one.ready?.status ?? "-", one.ready?.reason ?? "-"],
      one.rolledOut?.status ?? "-",
      one.pods === undefined ? "-" : `${one.readyPods ?? 0}/${one.pods}`,
      ...[one.due, one.running, one.waiting, one.failing, one.parked].map((figure) => String(figure ?? "-")),
      one.functionPaused ? "all" : String(one.paused ?? "-"),
      (one.oldestDueSeconds ?? 0) === 0 ? "-" : shortDuration((one.oldestDueSeconds ?? 0) * 1_000),
    ]),
  );

/** The source of the counts, and the parts of Drover that do not run, as text. */
export const describeSource = ({ figures, elsewhere: absent, notRunning }: FunctionStatusReport): string =>
  [
    ...notRunning.map(oneLine),
    figures === "redis"
      ? "Live counts from Redis."
      : "Counts as the deployer wrote them last. For live counts give --redis, or set DROVER_REDIS_URL.",
    ...(absent === undefined ? [] : [`${queueNotFoundMessage(absent)} Its counts are from its status.`]),
  ].join("\n");
