// One sequence in a namespace of its own: after every action the world is left to settle, and looked at.
import { setTimeout as delay } from "node:timers/promises";
import { builtin } from "@drover/kube";
import type { KubeClient } from "@drover/kube";
import { objectKey } from "@drover/controller";
import type { Sequence } from "./actions.ts";
import { maskFor, newNaming } from "../canonical/canonical.ts";
import type { Family } from "../family.ts";
import type { Observer } from "../observe.ts";
import { letGo, perform, removeNodes } from "./perform.ts";
import { settle } from "./settle.ts";
import type { Moment, Trace } from "./trace.ts";

export interface Stage {
  readonly client: KubeClient;
  readonly kubectl: string;
  readonly observer: Observer;
  readonly family: Family;
}

/** An action that is done at a time is done as long after it, at most. */
const mostLateMs = 9_000;

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

export async function runSequence(stage: Stage, sequence: Sequence): Promise<Trace> {
  const { client, kubectl, observer, family } = stage;
  const namespace = await makeNamespace(client);
  const world = observer.world(namespace);
  const naming = newNaming(namespace);
  const actor = { client, kubectl, world, naming, kinds: family.kinds };
  const moments: Moment[] = [];
  const broken: { action: number; problem: string }[] = [];
  let quota: number | undefined;
  let isLate = false;
  const times = family.timesOf?.(sequence.actions, Date.now()) ?? [];
  for (const [i, action] of sequence.actions.entries()) {
    const wait = (times[i] ?? 0) - Date.now();
    if (times[i] !== undefined && wait < -mostLateMs) {
      isLate = true;
      break;
    }
    await delay(Math.max(0, wait));
    const before = [...world.seen];
    // A busy process wakes late, and Jobs start when their minute begins.
    naming.begun.push(times[i] ?? Date.now());
    if (action.do === "quota") quota = action.pods;
    const answer = await perform(actor, action);
    const waitsFor = await settle(world, family, { quota });
    const state = family.state(world, naming);
    const mask = maskFor(world, naming);
    moments.push({
      action,
      state: { answer: mask(answer), ...(waitsFor !== undefined && { unsettled: mask(waitsFor) }), ...state },
    });
    const during = world.seen.slice(before.length);
    for (const problem of family.violations({ action, before, during }))
      broken.push({ action: i + 1, problem: mask(problem) });
    // What comes of further actions depends on when they are done.
    if (waitsFor !== undefined) break;
  }
  await letGo(actor);
  await client.delete(builtin.namespace, objectKey({ name: namespace }));
  await removeNodes(actor);
  observer.forget(namespace);
  return { moments, isLate, violations: broken };
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
