import type { KubeClient } from "@drover/kube";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { orEmbedded } from "../embedded-function.ts";
import { conditionOf } from "../function-object.ts";
import { elsewhere, withRedis } from "../redis-option.ts";
import { roughly } from "../roughly.ts";
import { table } from "../table.ts";
import { figuresNow, figuresStated, type FunctionFigures } from "./function-figures.ts";

/** What is known of a function. */
export interface FunctionStatus extends FunctionFigures {
  readonly namespace: string;
  readonly name: string;
  /** The Ready condition; undefined where nobody has looked at the function yet. */
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
  readonly pods: number | undefined;
  readonly readyPods: number | undefined;
}

export interface Statuses {
  /** Where the figures are from: Redis, now; or the functions' status, as it was written last. */
  readonly figures: "redis" | "status";
  readonly functions: readonly FunctionStatus[];
  /** Functions whose queue is not in the Redis that was asked: their figures are from their status. */
  readonly elsewhere?: readonly string[];
}

export interface StatusOptions {
  /** Undefined: all. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly redis: string | undefined;
}

/**
 * A function with a bridge in its process is known by its name, `plural.group`, and by Redis.
 *
 * @throws CommandError when there is no function of that name, or its queue is not in that Redis.
 */
export async function statusOf(
  client: KubeClient,
  { redis: url, ...options }: StatusOptions,
): Promise<Statuses> {
  if (url === undefined) {
    const functions = (await functionsMeant(client, options)).map((one) =>
      statusFrom(one, figuresStated(one)),
    );
    return { figures: "status", functions };
  }
  return withRedis(url, async (redis) => {
    const meant = await functionsMeant(client, options).catch(async (error: unknown) => {
      if (options.name === undefined) throw error;
      return [await orEmbedded({ client, redis }, options.name)(error)];
    });
    const functions: FunctionStatus[] = [];
    const absent: string[] = [];
    for (const one of meant) {
      const figures = await figuresNow(redis, one);
      if (figures === undefined) absent.push(one.key);
      functions.push(statusFrom(one, figures ?? figuresStated(one)));
    }
    if (options.name !== undefined && absent.length > 0) throw new CommandError(elsewhere(absent));
    return { figures: "redis", functions, ...(absent.length > 0 && { elsewhere: absent }) };
  });
}

async function functionsMeant(
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
    all.length === 0 ? "There is none at all" : `There are: ${all.map((one) => one.name).join(", ")}`;
  const hint = namespace === undefined ? "" : " With -A all namespaces are looked at.";
  return new CommandError(`There is no function ${name}${where}. ${known}.${hint}`);
}

function statusFrom({ namespace, name, object, status }: DeployedFunction, figures: FunctionFigures) {
  const condition = conditionOf(object);
  const { replicas, readyReplicas } = status;
  return {
    ...{ namespace, name },
    ready: condition && {
      status: condition.status,
      reason: condition.reason,
      message: condition.message,
    },
    ...{ pods: replicas, readyPods: readyReplicas },
    ...figures,
  };
}

const headings = [
  ...["NAMESPACE", "NAME", "READY", "REASON", "PODS", "DUE", "RUNNING", "WAITING", "FAILING", "PARKED"],
  ...["PAUSED", "OLDEST DUE"],
];

/** The statuses as a table; `-` for what nobody has said. */
export const statusTable = ({ functions }: Statuses): readonly string[] =>
  table(
    headings,
    functions.map((one) => [
      ...[one.namespace || "-", one.name, one.ready?.status ?? "-", one.ready?.reason ?? "-"],
      one.pods === undefined ? "-" : `${one.readyPods ?? 0}/${one.pods}`,
      ...[one.due, one.running, one.waiting, one.failing, one.parked, one.paused].map((figure) =>
        String(figure ?? "-"),
      ),
      (one.oldestDueSeconds ?? 0) === 0 ? "-" : roughly((one.oldestDueSeconds ?? 0) * 1_000),
    ]),
  );

/** Where the figures are from, in words. */
export const sourceWords = ({ figures, elsewhere: absent }: Statuses): string =>
  figures === "redis"
    ? [
        "Figures are Redis', now.",
        ...(absent === undefined ? [] : [`${elsewhere(absent)} Its figures are those of its status.`]),
      ].join("\n")
    : "Figures are those that the deployer wrote last; give --redis, or set DROVER_REDIS_URL, for now's.";
