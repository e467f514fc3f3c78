import { customResourceDefinition, objectKey, type SettledChild, silentLog } from "@drover/controller";
import {
  builtin,
  connect,
  type CredentialSource,
  installCrd,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
} from "@drover/kube";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { reconcileOnce } from "@drover/runtime";
import type { RunOutcome } from "@drover/queue";
import { type ObjectPlan, planObject } from "../../apps/cli/src/plan/plan-object.ts";
import { planLines } from "../../apps/cli/src/plan/plan-output.ts";
import { controllerOfWebsites, Website } from "../../packages/compose/src/website.fixture.ts";
import { differences, type Snapshot } from "./differences.ts";
import { actAsOthers, childRefs, type Found, moveOn, websiteRef } from "./others.ts";
import { changedDeclaration, secretPrefix } from "./random-children.ts";

export interface PlansOptions {
  readonly cluster: CredentialSource;
  readonly changes: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface PlansResult {
  /** Where a plan differs from its run, with the changes before it. */
  readonly problems: readonly string[];
  /** How often each action was planned. */
  readonly actions: ReadonlyMap<string, number>;
  readonly changes: number;
}

/** Changes of one website, after which another one begins. */
const changesOfWebsite = 20;

/**
 * Makes random changes to what a function declares and to what exists. After each, plans a run, runs it, and compares
 * the plan with the objects before and after, as the API server lists them.
 */
export async function runPlans({ cluster, changes, seed, log }: PlansOptions): Promise<PlansResult> {
  const client = await connect({ ...cluster, userAgent: "test", fieldManager: "others" });
  const problems: string[] = [];
  const actions = new Map<string, number>();
  try {
    await installCrd(client, { ...customResourceDefinition(Website) });
    for (let done = 0; done < changes; done += changesOfWebsite) {
      const trial = await openTrial(client, pseudoRandom(seed, done), `plans-${seed}-${done}`);
      for (let i = 0; i < Math.min(changesOfWebsite, changes - done); i++) {
        const { plan, found } = await trial.change();
        for (const { kind, action } of plan.changes) {
          const name = kind === "Website" ? "the object's own status" : action;
          actions.set(name, (actions.get(name) ?? 0) + 1);
        }
        if (found.length === 0) continue;
        problems.push([`seed ${seed}, website ${done}:`, ...trial.story(), ...found].join("\n    "));
        break; // What follows may be a consequence.
      }
      log(`${Math.min(done + changesOfWebsite, changes)} of ${changes} changes, ${problems.length} problems`);
    }
  } finally {
    await client.close();
  }
  return { problems, actions, changes };
}

interface Trial {
  /** Makes a change, and compares a plan with its run. */
  change(): Promise<{ readonly plan: ObjectPlan; readonly found: readonly string[] }>;
  story(): readonly string[];
}

async function openTrial(client: KubeClient, random: PseudoRandom, namespace: string): Promise<Trial> {
  await client.create(builtin.namespace, { metadata: { name: namespace } });
  const name = "a";
  const key = objectKey({ namespace, name });
  await client.create(websiteRef, { metadata: { name, namespace }, spec: { html: "1" } });
  const story: string[] = [];
  let declared: readonly SettledChild[] = [];
  let time = Date.parse("2026-01-01T00:00:00Z");
  const now = (): Date => new Date(time);
  const newFunction = () => controllerOfWebsites(() => ({ children: declared }));
  let running = newFunction();

  const makeChange = async (): Promise<string> => {
    const found = await findAll(client, namespace);
    switch (
      random.oneOf(["declare", "declare", "declare", "others", "others", "spec", "move", "none"] as const)
    ) {
      case "declare":
        declared = changedDeclaration(random, declared);
        return `declares ${JSON.stringify(declared)}`;
      case "others":
        return actAsOthers(client, random, { namespace, found: found.filter(isChild) });
      case "spec": {
        const body = { spec: { html: String(random.below(100)) } };
        await client.patch(websiteRef, key, { type: "merge", body });
        return `spec ${JSON.stringify(body)}`;
      }
      case "move":
        await moveOn(client, random, found.filter(isChild));
        return "Deployments become ready, finalizers end";
      case "none":
        return "nothing";
    }
  };
  return {
    async change() {
      time += random.oneOf([100, 10_000, 700_000]);
      // The memory of a process lasts longer than a run; that of a plan does not.
      if (random.chance(0.3)) running = newFunction();
      if (random.chance(0.5))
        await moveOn(client, random, (await findAll(client, namespace)).filter(isChild));
      story.push(await makeChange());
      const before = snapshotOf(await findAll(client, namespace));
      const object = before.get(`Website ${key}`);
      if (object === undefined) throw new Error("The website is gone.");
      const plan = await planObject({ controller: newFunction(), client, object, isStored: true, now });
      const untouched = snapshotOf(await findAll(client, namespace));
      const outcome = await runOnce(client, { controller: running, key, now });
      const after = snapshotOf(await findAll(client, namespace));
      const found = [
        ...storedBy(before, untouched),
        ...differences(plan, before, after, `Website ${key}`),
        ...failureDifference(plan, outcome),
        ...leaks(plan),
      ];
      return { plan, found };
    },
    story: () => story,
  };
}

const isChild = ({ ref }: Found): boolean => ref !== websiteRef;

async function findAll(client: KubeClient, namespace: string): Promise<readonly Found[]> {
  const lists = [...childRefs, websiteRef].map(async (ref) =>
    (await listAll(client, ref, { namespace })).map((object) => ({ ref, object })),
  );
  return (await Promise.all(lists)).flat();
}

const snapshotOf = (found: readonly Found[]): Snapshot =>
  new Map(found.map(({ ref, object }) => [`${ref.kind} ${keyOf(object)}`, { ...object, kind: ref.kind }]));

/** One run with a lease, as a worker makes it. */
const runOnce = (
  client: KubeClient,
  {
    controller,
    key,
    now,
  }: {
    readonly controller: ReturnType<typeof controllerOfWebsites>;
    readonly key: ReturnType<typeof objectKey>;
    readonly now: () => Date;
  },
): Promise<RunOutcome> =>
  reconcileOnce(
    { controller, client, announce: () => undefined, log: silentLog, now },
    {
      key,
      token: "run",
      claim: { fails: 0, reasons: [], class: "change", versions: {} },
      signal: new AbortController().signal,
      hasLease: () => true,
    },
  );

const versionOf = ({ metadata: { uid, resourceVersion } }: KubeObject): string => `${uid} ${resourceVersion}`;

/** A plan stores nothing. */
const storedBy = (before: Snapshot, after: Snapshot): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [was, is] = [before.get(id), after.get(id)].map((object) => object && versionOf(object));
    return was === is ? [] : [`${id}: the plan has changed it`];
  });

function failureDifference({ failure, end }: ObjectPlan, outcome: RunOutcome): readonly string[] {
  if (end !== undefined) return [`The plan has an end: ${end}`];
  const failed = "error" in outcome ? outcome.error : undefined;
  return failed === failure
    ? []
    : [`planned failure: ${failure ?? "none"}; and the run: ${failed ?? "none"}`];
}

/** A value of a Secret in the output, as text or base64. */
function leaks(plan: ObjectPlan): readonly string[] {
  const text = planLines(plan).join("\n") + JSON.stringify(plan);
  const encoded = Buffer.from(secretPrefix).toString("base64").slice(0, 8);
  return text.includes(secretPrefix) || text.includes(encoded) ? ["The plan shows a value of a Secret."] : [];
}
