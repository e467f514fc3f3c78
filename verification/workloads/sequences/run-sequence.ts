// One sequence in a namespace of its own: after every action the world is left to settle, and looked at.
import { setTimeout as delay } from "node:timers/promises";
import { builtin } from "@drover/kube";
import type { KubeClient } from "@drover/kube";
import { objectKey } from "@drover/controller";
import type { JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Action, Sequence } from "./actions.ts";
import { canonicalState, maskFor, newNaming } from "../canonical/canonical.ts";
import { violations } from "../invariants.ts";
import type { Observer } from "../observe.ts";
import { letGo, perform } from "./perform.ts";
import { settle } from "./settle.ts";

export interface Stage {
  readonly client: KubeClient;
  readonly kubectl: string;
  readonly observer: Observer;
}

/** What was after one action. */
export interface Moment {
  readonly action: Action;
  readonly state: JsonObject;
}

export interface Trace {
  readonly moments: readonly Moment[];
  /** What did not hold, with the action (from 1 on) in which. */
  readonly violations: readonly { readonly action: number; readonly problem: string }[];
}

/** Names are as long in every run. */
let runs = 10_000;

async function makeNamespace(client: KubeClient): Promise<string> {
  const namespace = `run-${++runs}`;
  await client.create(builtin.namespace, { metadata: { name: namespace } });
  const account = objectKey({ namespace, name: "default" });
  // Pods are refused until it is there.
  while ((await client.get(builtin.serviceAccount, account)) === undefined) await delay(50);
  return namespace;
}

export async function runSequence({ client, kubectl, observer }: Stage, sequence: Sequence): Promise<Trace> {
  const namespace = await makeNamespace(client);
  const world = observer.world(namespace);
  const naming = newNaming(namespace);
  const actor = { client, kubectl, world, naming };
  const moments: Moment[] = [];
  const broken: { action: number; problem: string }[] = [];
  let quota = false;
  for (const [i, action] of sequence.actions.entries()) {
    const before = { deployments: world.objects("Deployment"), seen: [...world.seen] };
    naming.begun.push(Date.now());
    if (action.do === "quota") quota = action.pods !== undefined;
    const answer = await perform(actor, action);
    const waitsFor = await settle(world, { quota });
    const state = canonicalState(world, naming);
    const mask = maskFor(world, naming);
    moments.push({
      action,
      state: { answer: mask(answer), ...(waitsFor !== undefined && { unsettled: mask(waitsFor) }), ...state },
    });
    const after = { deployments: world.objects("Deployment") };
    const during = world.seen.slice(before.seen.length);
    for (const problem of violations({ action, before, after, during }))
      broken.push({ action: i + 1, problem: mask(problem) });
    // What comes of further actions depends on when they are done.
    if (waitsFor !== undefined) break;
  }
  await letGo(actor);
  observer.forget(namespace);
  await client.delete(builtin.namespace, objectKey({ name: namespace }));
  return { moments, violations: broken };
}

/** Runs them, so many at once, in order of the list. */
export async function runSequences(
  stage: Stage,
  sequences: readonly Sequence[],
  { atOnce, done }: { readonly atOnce: number; readonly done?: (count: number) => void },
): Promise<readonly Trace[]> {
  const traces: Trace[] = [];
  let next = 0;
  let finished = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < sequences.length; i = next++) {
      const sequence = sequences[i];
      if (sequence === undefined) return;
      traces[i] = await runSequence(stage, sequence);
      done?.(++finished);
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, sequences.length) }, work);
  await Promise.race([Promise.all(workers), stage.observer.failed]);
  return traces;
}
