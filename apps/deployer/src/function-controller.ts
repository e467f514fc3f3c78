import {
  defineController,
  type Milliseconds,
  milliseconds,
  RetryAfterError,
  TerminalError,
} from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { RedisAccounts } from "@drover/queue";
import { randomBytes } from "node:crypto";
import { authorOf, neededOf, refuseUnlessHeld } from "./author.ts";
import { refuseUnlessGuarded } from "./author-policy.ts";
import { changePods, dropPods } from "./change-pods.ts";
import { followed } from "./followed.ts";
import { type FunctionContext, functionObjects, type Home, homeOf } from "./function-objects.ts";
import { type FunctionLoad, type FunctionQueues, queuesOf } from "./function-queues.ts";
import { refuseUnlessInUse } from "./is-in-use.ts";
import { dropObject, keepObject } from "./keep-object.ts";
import { digest, redisSecretOf, webhookSecretOf } from "./names.ts";
import { type ObservedPod, observePods } from "./observe-pods.ts";
import { fingerprintOf, type Surroundings, type TemplateOf } from "./pod-template.ts";
import { podsWanted } from "./pods-wanted.ts";
import { idleLeft, rescale } from "./rescale.ts";
import { podChanges } from "./roll-out.ts";
import { keepRotatingSecret } from "./rotating-secret.ts";
import { scalingOf } from "./scaling-of.ts";
import { statedConditions } from "./stated-conditions.ts";

export interface FunctionControllerParts {
  readonly client: KubeClient;
  readonly accounts: RedisAccounts;
  readonly queues: FunctionQueues;
  readonly surroundings: Surroundings;
  /** `checked`: whoever deploys a function must hold what it may do. `trusted`: for a cluster of one's own. */
  readonly authors: "checked" | "trusted";
  readonly rotateEvery: Milliseconds;
  readonly now?: () => Date;
}

/** A step of one run: everything that it stands on. */
interface Step extends FunctionControllerParts {
  readonly context: FunctionContext;
  readonly home: Home;
  readonly now: () => Date;
}

/** How often the figures in the status of a function with Pods are renewed, though nothing else happens. */
const figuresEvery: Milliseconds = 10_000;

/** Deploys functions. */
export const functionController = (parts: FunctionControllerParts) =>
  defineController({
    ...followed,
    reconcile: (context) => deploy(stepOf(parts, context)),
    finalize: (context) => takeDown(stepOf(parts, context)),
  });

const stepOf = (parts: FunctionControllerParts, context: FunctionContext): Step => ({
  now: () => new Date(),
  ...parts,
  context,
  home: homeOf(context),
  client: parts.client.guarded(context.guard),
});

/**
 * One run: may it be deployed at all; then who it is and what it may do; then its secrets; then Pods. A revision is in the
 * status before the first Pod of it is made.
 */
async function deploy(step: Step) {
  const { context, home, client } = step;
  const { spec, status, signal } = context;
  await refuseUnlessInUse(client, context, signal);
  refuseUnclear(spec);
  const permitted = await permit(step);
  const load = await pauseAsAsked(step);
  await keepObjects(step);
  const pods = await observePods(client, home, signal);
  const template = await templateOf(step, pods);
  const rollout =
    template === undefined ? undefined : rolloutOf(status.rollout, fingerprintOf(template), pods);
  const isNews = rollout?.revision !== status.rollout?.revision;
  const { idleAfter, concurrency, min, max, targetDue } = scalingOf(spec);
  const wanted = podsWanted(load, { min, max, targetDue }, { concurrency, pods: pods.length });
  const times = { idleAfter: milliseconds(idleAfter), now: step.now() };
  const scaling = rescale(status.scaling, wanted, times);
  if (template === undefined) await dropPods(step, pods);
  else if (rollout !== undefined && !isNews) {
    await changePods(step, podChanges(pods, { ...rollout, wanted: scaling.wanted }), {
      template,
      revision: rollout.revision,
    });
  }
  const revision = rollout?.revision ?? 0;
  const again = isNews ? 1 : Math.min(idleLeft(scaling, times), isBusy(pods, load) ? figuresEvery : Infinity);
  return {
    status: {
      ...bridgesPart(status),
      ...(permitted !== undefined && { permitted }),
      ...(rollout !== undefined && {
        rollout: isNews ? rollout : { ...rollout, ...completed(rollout, pods) },
      }),
      ...(template !== undefined && { scaling }),
      ...figuresOf(load),
      replicas: pods.filter(({ deleting }) => !deleting).length,
      readyReplicas: pods.filter((pod) => pod.ready && !pod.deleting && pod.revision === revision).length,
      paused: spec.paused ?? false,
    },
    conditions: statedConditions({ spec, status, pods, revision, wanted: scaling.wanted }),
    ...(again < Infinity && { requeueAfter: `${Math.max(1, Math.ceil(again))}ms` }),
  };
}

/** The revision has taken over: no older Pod is left that could run a key. */
const completed = ({ revision }: { readonly revision: number }, pods: readonly ObservedPod[]) =>
  pods.every((pod) => pod.revision === revision) ? { complete: revision } : {};

const isBusy = (pods: readonly ObservedPod[], { due, running }: FunctionLoad): boolean =>
  pods.length + due + running > 0;

/** What the bridge says of it, in the same status. */
function bridgesPart({ problem, follows, campaign }: FunctionContext["status"]) {
  return {
    ...(problem !== undefined && { problem }),
    ...(follows !== undefined && { follows }),
    ...(campaign !== undefined && { campaign }),
  };
}

const figuresOf = ({ due, oldestDue, running, parked, failing }: FunctionLoad) => ({
  ...{ due, running, parked, failing },
  oldestDueSeconds: Math.floor(oldestDue / 1_000),
});

/** @throws TerminalError for a spec that says two things, or too little. */
function refuseUnclear({ delivery, webhook, container }: FunctionContext["spec"]): void {
  const refuse = (problem: string) => new TerminalError(problem, { reason: "InvalidSpec" });
  if (delivery !== "webhook") {
    if (webhook !== undefined)
      throw refuse("spec.webhook goes with delivery: webhook. Set that, or leave it out.");
    return;
  }
  const { service, url } = webhook ?? {};
  if (service !== undefined && url !== undefined)
    throw refuse("spec.webhook: give service or url, not both.");
  if (container === undefined && service === undefined && url === undefined) {
    throw refuse("spec.webhook: nobody knows where to call it. Give service, url, or a container.");
  }
}

/** @returns what was permitted, to be asked again when it is another thing. */
async function permit({ context, home, client, authors }: Step): Promise<string | undefined> {
  if (authors === "trusted") return undefined;
  const { metadata, spec, status, signal } = context;
  const needed = neededOf(spec, home.namespace);
  const permitted = digest([authorOf(metadata), needed]);
  if (needed.length === 0 || permitted === status.permitted) return permitted;
  await refuseUnlessGuarded(client, signal);
  await refuseUnlessHeld(client, { metadata, needed }, signal);
  return permitted;
}

/** The spec's pause is the queue's; one that an operator made is left alone. */
async function pauseAsAsked({ context: { spec, status }, home, queues }: Step): Promise<FunctionLoad> {
  const load = await queues.load(home.name, spec);
  const asked = spec.paused ?? false;
  if (asked === load.paused || (!asked && status.paused !== true)) return load;
  const queue = queues.of(home.name);
  await (asked ? queue.pause({ kind: "controller" }) : queue.resume({ kind: "controller" }));
  return { ...load, paused: asked };
}

async function keepObjects({ context: { spec, signal, status }, home, client }: Step): Promise<void> {
  const keeper = { client, signal, owner: home.uid };
  // What never was there need not be looked for.
  const wasDeployed = status.rollout !== undefined;
  for (const { ref, object, wanted } of functionObjects(home, spec)) {
    if (wanted) await keepObject(keeper, ref, object);
    else if (wasDeployed) await dropObject(keeper, ref, object);
  }
}

/** What its Pods are made after, its secrets in place; nothing for a function that somebody else runs. */
async function templateOf(step: Step, pods: readonly ObservedPod[]): Promise<TemplateOf | undefined> {
  const { context, home, accounts, rotateEvery, surroundings } = step;
  const { spec, status, signal } = context;
  const { container, delivery = "pull" } = spec;
  const keeper = { client: step.client, signal, now: step.now() };
  const template = (password: string): TemplateOf | undefined =>
    container && { name: home.name, spec: { ...spec, container }, surroundings, password };
  const isUsedByAll = (password: string): boolean => {
    const of = template(password);
    if (of === undefined) return true;
    const { revision, template: known } = status.rollout ?? {};
    return fingerprintOf(of) === known && pods.every((pod) => pod.revision === revision);
  };
  const shared = { rotateEvery, isUsedByAll, forgets: container !== undefined };
  if (delivery === "webhook") {
    const make = () => `whsec_${randomBytes(32).toString("base64")}`;
    const secret = { ...shared, name: webhookSecretOf(home.name), key: "current", make };
    return template(await keepRotatingSecret(keeper, home, secret));
  }
  if (container === undefined) return undefined;
  const user = { role: "function", controllers: queuesOf(home.name, spec) } as const;
  const login = {
    ...{ ...shared, name: redisSecretOf(home.name), key: "password", others: { username: home.name } },
    make: () => randomBytes(32).toString("base64url"),
    announce: (passwords: readonly string[]) => accounts.grant(home.name, user, passwords),
  };
  return template(await keepRotatingSecret(keeper, home, login));
}

/** The revision of what Pods are made after now: a new one is newer than any Pod that there is. */
function rolloutOf(
  known: FunctionContext["status"]["rollout"],
  template: string,
  pods: readonly ObservedPod[],
): NonNullable<FunctionContext["status"]["rollout"]> {
  if (known?.template === template) return known;
  const revision = Math.max(known?.revision ?? 0, ...pods.map((pod) => pod.revision)) + 1;
  return { ...known, revision, template };
}

/** Pods first, so that runs under way end with all that they need; what has no owner in the cluster last. */
async function takeDown(step: Step): Promise<void> {
  const { context, home, client, accounts } = step;
  const { signal, spec } = context;
  const pods = await observePods(client, home, signal);
  if (pods.length > 0) {
    await dropPods(step, pods);
    throw new RetryAfterError(`${pods.length} Pods end their runs.`, { after: "1s", reason: "PodsLeft" });
  }
  for (const { ref, object } of functionObjects(home, spec)) {
    if (!ref.namespaced) await dropObject({ client, signal, owner: home.uid }, ref, object);
  }
  if (context.status.rollout !== undefined && spec.delivery !== "webhook") await accounts.revoke(home.name);
}
