// All histories with both contestants at once, on one API server, each in namespaces of its own.
import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeClient } from "@drover/kube";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Contestant, ContestantOptions } from "./contestants/contestant.ts";
import { type HookCalls, openHookCalls } from "./contestants/hook-calls.ts";
import { openHookServer } from "./contestants/hook-server.ts";
import { type Action, childKinds, type History } from "./histories/actions.ts";
import { after, type Expected, nothing } from "./histories/expected.ts";
import type { Allowed, Difference } from "./judge/allowed-differences.ts";
import { differences, unexplained } from "./judge/compare.ts";
import { observe, openSide, perform, settle, type Side } from "./judge/side.ts";
import { watchKinds, type Watched } from "./judge/watch.ts";

export type OpenContestant = (options: ContestantOptions) => Promise<Contestant>;

export interface SuiteOptions {
  /** undefined: the subject is only compared with what is declared. */
  readonly reference: OpenContestant | undefined;
  readonly subject: OpenContestant;
  readonly histories: readonly History[];
  readonly atOnce: number;
  readonly log: (line: string) => void;
  /** Called as soon as a history has failed. */
  readonly failed: (failure: Failure) => void;
}

/** The first action of a history after which the contestants differ, or one of them has not settled. */
export interface Failure {
  readonly history: History;
  /** From 1 on. */
  readonly action: number;
  readonly found: readonly Difference[];
  /** What a contestant has not done, for people. */
  readonly unsettled: readonly string[];
}

export interface SuiteResult {
  readonly histories: number;
  /** The actions after which the states were compared. */
  readonly compared: number;
  /** Those that differed at first, and were settled and compared once more. */
  readonly again: number;
  readonly restarts: number;
  readonly failures: number;
  readonly met: ReadonlyMap<Allowed, number>;
  readonly seconds: number;
}

interface Stage {
  readonly client: KubeClient;
  readonly watched: Watched;
  readonly calls: HookCalls;
  /** The reference, if there is one, and the subject. */
  readonly contestants: readonly Contestant[];
  readonly met: Map<Allowed, number>;
  /** Kills and starts the contestants again; one restart after another. */
  restart(meanwhile: () => Promise<unknown>): Promise<void>;
  compared: number;
  again: number;
  restarts: number;
}

/** Starts a control plane and both contestants, and runs all histories. */
export async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "drover-metacontroller-"));
  let failed = true;
  opened.defer(() => {
    if (failed) options.log(`The logs are in ${folder}.`);
    else rmSync(folder, { recursive: true });
  });
  const cluster = await startClusterWithFakeNodes({
    nodes: 0,
    controllers: ["garbage-collector-controller", "namespace-controller", "serviceaccount-controller"],
    log: options.log,
  });
  opened.defer(() => cluster.stop());
  const { kubeconfig } = cluster;
  const client = await connect({ kubeconfig, userAgent: "by-hand" });
  opened.defer(() => client.close());
  const calls = openHookCalls();
  const hooks = await openHookServer(calls, folder);
  opened.defer(() => hooks.close());
  const contestants: Contestant[] = [];
  for (const open of [options.reference, options.subject]) {
    const contestant = await open?.({ kubeconfig, client, hooks, folder });
    if (contestant === undefined) continue;
    opened.defer(() => contestant.stop());
    await contestant.start();
    contestants.push(contestant);
  }
  const watched = await watchKinds(client, [
    ...Object.values(childKinds),
    ...contestants.map(({ parents }) => parents),
  ]);
  opened.defer(() => watched.close());
  const stage: Stage = {
    client,
    watched,
    calls,
    contestants,
    met: new Map(),
    compared: 0,
    again: 0,
    restarts: 0,
    restart: restarter(contestants),
  };
  const began = performance.now();
  const failures = await Promise.race([runAll(stage, options), watched.failed]);
  const seconds = (performance.now() - began) / 1_000;
  failed = failures > 0;
  const { met, compared, again, restarts } = stage;
  return { histories: options.histories.length, compared, again, restarts, failures, met, seconds };
}

function restarter(contestants: readonly Contestant[]): Stage["restart"] {
  let last: Promise<unknown> = Promise.resolve();
  return (meanwhile) => {
    const restart = async (): Promise<void> => {
      await Promise.all(contestants.map((one) => one.kill()));
      try {
        await meanwhile();
      } finally {
        await Promise.all(contestants.map((one) => one.start()));
      }
    };
    const mine = last.then(restart);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** The number of histories that have failed. */
async function runAll(stage: Stage, options: SuiteOptions): Promise<number> {
  const { histories, atOnce, log, failed } = options;
  const left = histories.entries();
  let [done, failures] = [0, 0];
  const work = async (): Promise<void> => {
    for (const [i, history] of left) {
      const failure = await runHistory(stage, history, i);
      if (failure !== undefined) failed(failure);
      failures += failure === undefined ? 0 : 1;
      done += 1;
      if (done % 25 === 0) log(`${done} of ${histories.length} histories, ${failures} differ`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failures;
}

async function runHistory(stage: Stage, history: History, number: number): Promise<Failure | undefined> {
  const { client, contestants } = stage;
  const sides = await Promise.all(
    contestants.map((contestant) =>
      openSide({ ...stage, contestant }, `history-${number}-${contestant.name.toLowerCase()}`),
    ),
  );
  let expected = nothing;
  let failure: Failure | undefined;
  for (const [i, action] of history.actions.entries()) {
    expected = after(expected, action);
    const outcome = await step(stage, sides, action, expected);
    if (outcome === undefined) continue;
    failure = { history, action: i + 1, ...outcome };
    break;
  }
  for (const { namespace } of sides) await client.delete(builtin.namespace, objectKey({ name: namespace }));
  return failure;
}

type Outcome = Pick<Failure, "found" | "unsettled">;

/** One action on both sides. Undefined if both have settled in the same state. */
async function step(
  stage: Stage,
  sides: readonly Side[],
  action: Action,
  expected: Expected,
): Promise<Outcome | undefined> {
  const performing = () => Promise.all(sides.map((side) => perform(side, action)));
  if (action.do === "restart") {
    stage.restarts += 1;
    await stage.restart(performing);
  } else await performing();
  stage.compared += 1;
  const first = await compared(stage, sides, expected);
  if (first === undefined || first.unsettled.length > 0) return first;
  // A run that the API server has failed changes nothing, either: then only the next one is as settled as it looks.
  stage.again += 1;
  return compared(stage, sides, expected);
}

async function compared(
  stage: Stage,
  sides: readonly Side[],
  expected: Expected,
): Promise<Outcome | undefined> {
  const lacks = await Promise.all(sides.map((side) => settle(side, expected)));
  const [reference, subject] = await Promise.all(sides.map(observe));
  const found =
    reference === undefined || subject === undefined
      ? []
      : unexplained(differences(reference, subject), expected, stage.met);
  const unsettled = lacks.flatMap((why, i) =>
    why === undefined ? [] : [`${sides[i]?.contestant.name ?? ""} has not settled: ${why}`],
  );
  return found.length > 0 || unsettled.length > 0 ? { found, unsettled } : undefined;
}
