import {
  controllerFrom,
  controllerNamePattern,
  declaresChildren,
  isSecretKind,
  InvalidControllerError,
  type OwnedKind,
  type QueueName,
  queueOf,
  type ReconcileFunctionSpec,
  type RelatedKind,
  type Resource,
  serviceNameOf,
  defaultRunSettings,
  defaultScaling,
  webhookProblem,
} from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { z } from "zod";
import { type MetacontrollerHooks, metacontrollerHooks } from "./metacontroller/hooks.ts";

/** A function that the gateway calls, as its ReconcileFunction declares it. */
export interface WebhookFunction {
  /** The object's name, which is the controller's name, too: finalizers and Events use it. */
  readonly controller: string;
  readonly queue: QueueName;
  readonly namespace: string;
  readonly uid: string;
  readonly for: Resource;
  readonly service: { readonly name: string; readonly port: number };
  /** A URL outside the cluster, used instead of the Service. */
  readonly url?: string | undefined;
  readonly path: string;
  readonly finalizes: boolean;
  /** True if it declares children, of the kinds that it owns. */
  readonly composes: boolean;
  /** True if it pulls: a plan calls it in a Pod, and it gets its children as its runs do, also Secrets. */
  readonly pulls?: true;
  /** Set if it has the hooks of a controller of Metacontroller, instead of Drover's contract. */
  readonly metacontroller?: MetacontrollerHooks | undefined;
  readonly owns: readonly OwnedKind[];
  /** The kinds with objects that it gets with each object. */
  readonly related: readonly RelatedKind[];
  /** True if runs may get cached objects, and leave them for the next run. */
  readonly copies: boolean;
  readonly copiesFor: ReconcileFunctionSpec["copiesFor"];
  /** True if changes of other kinds, or events from outside the cluster, wake its keys. */
  readonly isWokenByOthers: boolean;
  /** Calls at once. */
  readonly concurrency: number;
  readonly runSettings: Pick<ReconcileFunctionSpec, "resyncEvery" | "timeout" | "retry" | "limits">;
  /** True if it scales to zero. */
  readonly scalesToZero: boolean;
  /** Increases with every rollout. */
  readonly revision: number;
}

type FunctionObject = Pick<KubeObject, "metadata"> & { readonly status?: unknown };

/**
 * The function of a ReconcileFunction, or why it cannot be called and what to do about it.
 *
 * @param object its metadata, and its status, which has the number of Pods that are ready.
 */
export function readWebhookFunction(
  object: FunctionObject,
  spec: ReconcileFunctionSpec,
): { readonly ok: true; readonly fn: WebhookFunction } | { readonly ok: false; readonly problem: string } {
  const problem = controllerNamePattern.test(object.metadata.name) ? webhookProblem(spec) : nameTooLong;
  return problem === undefined ? checked(webhookFunction(object, spec)) : { ok: false, problem };
}

type ReadFunction = ReturnType<typeof readWebhookFunction>;

/**
 * A function that pulls, as a plan calls it: as one that declares children. Its ReconcileFunction does not show what its
 * code decides: `finalizes` is false, and the names of related objects may be left to code.
 */
export function readPulledFunction(object: FunctionObject, spec: ReconcileFunctionSpec): ReadFunction {
  if (!controllerNamePattern.test(object.metadata.name)) return { ok: false, problem: nameTooLong };
  if (isSecretKind(spec.for)) return { ok: false, problem: "spec.for: Secrets are never sent over HTTP." };
  const webhook = { path: "/", composes: true, finalizes: false };
  return checked({ ...webhookFunction(object, { ...spec, webhook }), pulls: true });
}

function checked(fn: WebhookFunction): ReadFunction {
  try {
    // A definition in code would be refused for the same, such as a timeout of zero.
    controllerFrom({ ...definitionOf(fn), reconcile: () => Promise.resolve(undefined) });
    return { ok: true, fn };
  } catch (error) {
    if (error instanceof InvalidControllerError) return { ok: false, problem: error.message };
    throw error;
  }
}

const nameTooLong =
  "Its name is also its controller's, which has 63 characters at most. Give it another name.";

const podsSchema = z.looseObject({ readyReplicas: z.number().default(0) });

/** The number of Pods of a function that are ready. */
export const readyPodsOf = ({ status }: FunctionObject): number =>
  podsSchema.safeParse(status).data?.readyReplicas ?? 0;

const rolloutSchema = z.looseObject({ rollout: z.looseObject({ revision: z.int().min(0) }) });

function webhookFunction(object: FunctionObject, spec: ReconcileFunctionSpec): WebhookFunction {
  const { name, namespace = "", uid } = object.metadata;
  const {
    resyncEvery,
    timeout,
    retry,
    limits,
    concurrency = defaultRunSettings.concurrency,
    webhook,
    container,
  } = spec;
  const scaling = spec.scaling ?? (container && defaultScaling);
  return {
    controller: name,
    queue: queueOf({ namespace, name, uid }),
    namespace,
    uid,
    for: resourceOf(spec),
    service: webhook?.service ?? { name: serviceNameOf(name), port: 80 },
    url: webhook?.url,
    path: webhook?.path ?? "/",
    finalizes: webhook?.finalizes === true || webhook?.metacontroller?.finalize !== undefined,
    composes: declaresChildren(webhook),
    metacontroller: webhook?.metacontroller && metacontrollerHooks(webhook.metacontroller),
    owns: declaresChildren(webhook) ? (spec.owns ?? []).map(ownedKind) : [],
    related: (spec.watches ?? []).flatMap(relatedKind),
    copies: spec.copies ?? false,
    copiesFor: spec.copiesFor,
    isWokenByOthers: [spec.owns, spec.watches, spec.hooks].some((those = []) => those.length > 0),
    concurrency: Math.min(10_000, concurrency * Math.max(1, container ? readyPodsOf(object) : 1)),
    runSettings: { resyncEvery, timeout, retry, limits },
    scalesToZero: scaling?.min === 0,
    revision: rolloutSchema.safeParse(object.status).data?.rollout.revision ?? 0,
  };
}

/** The part of the definition of a controller that a ReconcileFunction has. */
export function definitionOf({
  controller: name,
  for: resource,
  owns,
  related,
  copies,
  copiesFor,
  runSettings,
}: WebhookFunction) {
  const { resyncEvery, timeout, retry = {}, limits } = runSettings;
  const { first, longest, attempts } = retry;
  return {
    name,
    for: resource,
    owns,
    watches: related,
    copies,
    ...(copiesFor !== undefined && { copiesFor }),
    ...(resyncEvery !== undefined && { resyncEvery }),
    ...(timeout !== undefined && { timeout }),
    retry: {
      ...(first !== undefined && { first }),
      ...(longest !== undefined && { longest }),
      ...(attempts !== undefined && { attempts }),
    },
    ...(limits?.runs !== undefined && { limits: { runs: limits.runs } }),
  };
}

/** The kind alone: which of its objects wake a key is the bridge's affair. */
const ownedKind = ({
  group,
  version,
  kind,
  plural,
  scope,
  copies = false,
  acrossNamespaces = false,
  namespaces,
}: NonNullable<ReconcileFunctionSpec["owns"]>[number]): OwnedKind => ({
  kind: { group, version, kind, plural, scope },
  copies,
  acrossNamespaces,
  ...(namespaces !== undefined && { namespaces }),
});

const relatedKind = ({
  group,
  version,
  kind,
  plural,
  scope,
  ...related
}: NonNullable<ReconcileFunctionSpec["watches"]>[number]): readonly RelatedKind[] =>
  related.related === true
    ? [{ ...related, kind: { group, version, kind, plural, scope }, related: true }]
    : [];

/**
 * The resource of a function that is called, with any spec and status. Drover does not write the status of kinds of others:
 * those of a DecoratorController, and Kubernetes' own.
 */
function resourceOf({
  for: { group, version, kind, plural, scope },
  webhook,
}: ReconcileFunctionSpec): Resource {
  return {
    ...((webhook?.metacontroller?.controller === "Decorator" || isOfKubernetes(group)) && { foreign: true }),
    group,
    version,
    kind,
    plural,
    scope,
    singular: kind.toLowerCase(),
    apiVersion: group === "" ? version : `${group}/${version}`,
    spec: z.looseObject({}),
    status: z.looseObject({}),
  };
}

/** True for the API groups of Kubernetes' own kinds. Those of CustomResourceDefinitions have a dot. */
const isOfKubernetes = (group: string): boolean => !group.includes(".") || group.endsWith(".k8s.io");
