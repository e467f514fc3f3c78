// All sequences with one subject, then all with the other, on one control plane; and what differs, made short.
import { setTimeout as delay } from "node:timers/promises";
import { objectKey } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { KubeClient } from "@drover/kube";
import type { FakeNodeCluster } from "@drover/real-cluster";
import { isJson, isObject } from "../../packages/sandbox/src/json.ts";
import type { Sequence } from "./sequences/actions.ts";
import { compareTraces, described } from "./canonical/compare.ts";
import type { Allowed, Difference } from "./canonical/compare.ts";
import type { Family } from "./family.ts";
import { layGround } from "./ground.ts";
import { kinds } from "./sequences/kinds.ts";
import { runSequences } from "./sequences/run-sequence.ts";
import type { Stage } from "./sequences/run-sequence.ts";
import type { Trace } from "./sequences/trace.ts";
import { shrunk } from "./sequences/shrink.ts";
import { reference } from "./subjects.ts";
import type { Subject } from "./subjects.ts";

export interface SuiteOptions {
  readonly family: Family;
  readonly subject: Subject;
  readonly sequences: number;
  readonly seed: number;
  /** How many sequences run at once. */
  readonly atOnce: number;
  /** How many of those that differ are made short. */
  readonly shrink: number;
  /** How often those that differ are repeated, at most. */
  readonly repeat: number;
  readonly log: (line: string) => void;
}

export interface Differing {
  readonly sequence: Sequence;
  readonly found: readonly Difference[];
}

interface Compared extends Differing {
  readonly theirs: Trace;
  readonly ours: Trace;
}

export interface Violated {
  readonly seed: number;
  readonly subject: string;
  readonly action: number;
  readonly problem: string;
}

export interface SuiteResult {
  readonly actions: number;
  readonly differing: readonly Differing[];
  /** Differed at first, and when they were repeated not always. */
  readonly byChance: readonly Differing[];
  readonly violated: readonly Violated[];
  /** Those of the subject that the reference did not come to, too, in the same action. */
  readonly violatedBySubjectAlone: readonly Violated[];
  /** Allowed differences that no sequence met. Empty where few sequences ran. */
  readonly unused: readonly Allowed[];
  /** Actions after which the reference did not come to rest in time. */
  readonly unsettled: readonly string[];
  /** Sequences that one of the sides did not do to the end in time: they are compared up to there. */
  readonly late: readonly number[];
  readonly seconds: { readonly reference: number; readonly subject: number };
}

interface Ground {
  readonly cluster: FakeNodeCluster;
  readonly stage: Stage;
  readonly options: SuiteOptions;
}

/** Until the controllers do what they are there for: being healthy they may still be reading. */
async function untilAtWork(client: KubeClient, { warmUp }: Family, subject: string): Promise<void> {
  const { kind, object, shownBy = kind, isDone: isWarm } = warmUp;
  const namespace = `warm-${Date.now()}`;
  await client.create(builtin.namespace, { metadata: { name: namespace } });
  while ((await client.get(builtin.serviceAccount, objectKey({ namespace, name: "default" }))) === undefined)
    await delay(50);
  await client.create(kinds[kind], { ...object, metadata: { namespace, name: "warm" } });
  const isDone = async (): Promise<boolean> => {
    const { items } = await client.list(kinds[shownBy], { namespace });
    return items.some((found: unknown) => isJson(found) && isObject(found) && isWarm(found));
  };
  const end = performance.now() + 60_000;
  while (!(await isDone()) && subject !== "none") {
    if (performance.now() > end) throw new Error(`${subject} brings no ${kind} to its end.`);
    await delay(100);
  }
  await client.delete(builtin.namespace, objectKey({ name: namespace }));
}

async function runWith(
  { cluster, stage, options }: Ground,
  subject: Subject,
  sequences: readonly Sequence[],
): Promise<readonly Trace[]> {
  await cluster.runControllers([...subject.controllers, ...(options.family.without ?? [])]);
  const running = await subject.start(cluster);
  try {
    await untilAtWork(stage.client, options.family, subject.name);
    const begun = performance.now();
    const done = (count: number): void => {
      if (count % 25 !== 0 && count !== sequences.length) return;
      const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
      options.log(`${subject.name}: ${count} of ${sequences.length} sequences, ${seconds} s`);
    };
    return await runSequences(stage, sequences, { atOnce: options.atOnce, done });
  } finally {
    await running.stop();
  }
}

async function differencesOf(
  ground: Ground,
  sequences: readonly Sequence[],
): Promise<readonly (readonly Difference[])[]> {
  if (sequences.length === 0) return [];
  const left = await runWith(ground, reference, sequences);
  const right = await runWith(ground, ground.options.subject, sequences);
  return sequences.map((_, i) => {
    const [one, other] = [left[i], right[i]];
    return one && other ? compareTraces(one, other, ground.options.family.allowed) : [];
  });
}

/**
 * Once in a while kube-controller-manager does not do what it did before: two of its writes come in another order. So
 * all that differ run a few times more with both, until any two runs are the same: then it was by chance.
 */
async function notByChance(ground: Ground, candidates: readonly Compared[]): Promise<readonly Compared[]> {
  const { allowed } = ground.options.family;
  let left = candidates.map((compared) => ({ compared, theirs: [compared.theirs], ours: [compared.ours] }));
  for (let again = 0; again < ground.options.repeat && left.length > 0; again += 1) {
    const sequences = left.map(({ compared }) => compared.sequence);
    const theirs = await runWith(ground, reference, sequences);
    const ours = await runWith(ground, ground.options.subject, sequences);
    for (const [i, runs] of left.entries()) {
      runs.theirs.push(...theirs.slice(i, i + 1));
      runs.ours.push(...ours.slice(i, i + 1));
    }
    left = left.filter(
      (runs) =>
        !runs.theirs.some((one) =>
          runs.ours.some((other) => compareTraces(one, other, allowed).length === 0),
        ),
    );
  }
  return left.map(({ compared }) => compared);
}

/** Only as far as the first difference, and of that what it takes. */
async function shortened(ground: Ground, { sequence, found }: Differing): Promise<Differing> {
  const actions = sequence.actions.slice(0, found[0]?.step ?? sequence.actions.length);
  const least = await shrunk({ ...sequence, actions }, async (tries) =>
    (await differencesOf(ground, tries)).map((one) => one.length > 0),
  );
  const [again = []] = await differencesOf(ground, [least]);
  return again.length > 0 ? { sequence: least, found: again } : { sequence: { ...sequence, actions }, found };
}

const violatedBy = (
  subject: string,
  sequences: readonly Sequence[],
  traces: readonly Trace[],
): readonly Violated[] =>
  traces.flatMap(({ violations }, i) =>
    violations.map((one) => ({ seed: sequences[i]?.seed ?? 0, subject, ...one })),
  );

/** Where more differ than so many it is not by chance. */
const mostRepeated = 40;

async function compared(ground: Ground): Promise<SuiteResult> {
  const { options } = ground;
  const sequences = Array.from({ length: options.sequences }, (_, i) =>
    options.family.sequenceOf(options.seed + i),
  );
  const begun = performance.now();
  const theirs = await runWith(ground, reference, sequences);
  const between = performance.now();
  const ours = await runWith(ground, options.subject, sequences);
  const ended = performance.now();
  const used = new Set<Allowed>();
  const differed = sequences.flatMap((sequence, i): Compared[] => {
    const [left, right] = [theirs[i], ours[i]];
    const found = left && right ? compareTraces(left, right, options.family.allowed, used) : [];
    return left && right && found.length > 0 ? [{ sequence, found, theirs: left, ours: right }] : [];
  });
  for (const { sequence, found } of differed)
    options.log(`sequence ${sequence.seed} differs at first\n${described(found.slice(0, 2))}`);
  const [some, rest] = [differed.slice(0, mostRepeated), differed.slice(mostRepeated)];
  const real = [...(await notByChance(ground, some)), ...rest];
  const differing: Differing[] = [];
  for (const one of real)
    differing.push(differing.length < options.shrink ? await shortened(ground, one) : one);
  const byReference = violatedBy(reference.name, sequences, theirs);
  const bySubject = violatedBy(options.subject.name, sequences, ours);
  const whatOf = ({ seed, action, problem }: Violated): string => JSON.stringify([seed, action, problem]);
  const excused = new Set(byReference.map(whatOf));
  return {
    actions: sequences.reduce((sum, { actions }) => sum + actions.length, 0),
    differing,
    byChance: differed.filter((one) => !real.includes(one)),
    violated: [...byReference, ...bySubject],
    violatedBySubjectAlone: bySubject.filter((one) => !excused.has(whatOf(one))),
    unused: options.sequences < 1_000 ? [] : options.family.allowed.filter((one) => !used.has(one)),
    unsettled: theirs.flatMap(({ moments }, i) =>
      moments.flatMap(({ state }, at) =>
        state["unsettled"] === undefined
          ? []
          : [`sequence ${sequences[i]?.seed ?? 0}, action ${at + 1}: ${JSON.stringify(state["unsettled"])}`],
      ),
    ),
    late: sequences.flatMap(({ seed }, i) => (theirs[i]?.isLate || ours[i]?.isLate ? [seed] : [])),
    seconds: { reference: (between - begun) / 1_000, subject: (ended - between) / 1_000 },
  };
}

/** Starts a control plane, runs everything and stops it. */
export async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  const { family, log } = options;
  const { cluster, client, observer, stop } = await layGround([family], log);
  try {
    const stage = { client, kubectl: cluster.kubectl, observer, family };
    return await compared({ cluster, stage, options });
  } finally {
    await stop();
  }
}
