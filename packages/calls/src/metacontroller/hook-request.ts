import type { Kind, Observed, ReconcileContext, RelatedKind, Resource } from "@drover/controller";
import { apiVersionOf, type KubeObject, refOf } from "@drover/kube";
import { childForCall, objectForCall, relatedForCall } from "../object-for-call.ts";
import type { WebhookFunction } from "../webhook-function.ts";
import { type MetacontrollerHooks, methodOf } from "./hooks.ts";

export type HookedFunction = Pick<WebhookFunction, "controller" | "for" | "owns" | "related" | "namespace">;

/** The function, its hooks and the object of a request. */
export interface HookSubject {
  readonly fn: HookedFunction;
  readonly hooks: MetacontrollerHooks;
  readonly context: Pick<ReconcileContext<Resource>, "object">;
  /** The kinds of the related objects of this run. */
  readonly related: readonly RelatedKind[];
}

/**
 * The request of a sync or finalize hook.
 *
 * @see https://metacontroller.github.io/metacontroller/api/compositecontroller.html#sync-hook-request
 * @see https://metacontroller.github.io/metacontroller/api/decoratorcontroller.html#sync-hook-request
 */
export function syncRequest(subject: HookSubject, observed: Observed, finalizing: boolean): object {
  const { fn, hooks } = subject;
  const parent = objectForCall(fn.for, subject.context.object);
  const grouped = (objects: readonly KubeObject[], sent: (object: KubeObject) => object) =>
    groupedObjects(objects, sent, hooks.version, parent.metadata.namespace === undefined);
  const children = { ...emptyGroups(fn.owns), ...grouped(observed.children.all, childForCall) };
  return {
    controller: controllerOf(subject),
    ...(hooks.controller === "Composite" ? { parent, children } : { object: parent, attachments: children }),
    related: { ...emptyGroups(subject.related), ...grouped(observed.related.all, relatedForCall) },
    finalizing,
  };
}

/**
 * The request of a customize hook.
 *
 * @see https://metacontroller.github.io/metacontroller/api/customize.html#customize-hook-request
 */
export const customizeRequest = (subject: Omit<HookSubject, "related">): object => ({
  controller: controllerOf(subject),
  parent: objectForCall(subject.fn.for, subject.context.object),
});

/** The controller of Metacontroller that would have these hooks. */
function controllerOf({ fn, hooks }: Pick<HookSubject, "fn" | "hooks">): object {
  const resource = { apiVersion: apiVersionOf(refOf(fn.for)), resource: fn.for.plural };
  const children = fn.owns.map(({ kind }) => ({
    apiVersion: apiVersionOf(refOf(kind)),
    resource: kind.plural,
    updateStrategy: { method: methodOf(hooks, kind) },
  }));
  return {
    apiVersion: "metacontroller.k8s.io/v1alpha1",
    kind: `${hooks.controller}Controller`,
    metadata: { name: fn.controller },
    spec:
      hooks.controller === "Composite"
        ? { parentResource: resource, childResources: children }
        : { resources: [resource], attachments: children },
  };
}

/** A kind without objects is there, too: hooks look it up without asking. */
const emptyGroups = (kinds: readonly { readonly kind: Kind }[]) =>
  Object.fromEntries(kinds.map(({ kind }) => [kindKey(apiVersionOf(refOf(kind)), kind.kind), {}]));

/** Objects by kind and name, as `{ "Deployment.apps/v1": { name: object } }`. */
function groupedObjects(
  objects: readonly KubeObject[],
  sent: (object: KubeObject) => object,
  version: MetacontrollerHooks["version"],
  isParentClusterScoped: boolean,
): Readonly<Record<string, Readonly<Record<string, object>>>> {
  const groups: Record<string, Record<string, object>> = {};
  for (const object of objects) {
    const { name, namespace } = object.metadata;
    const isQualified = namespace !== undefined && (version === "v2" || isParentClusterScoped);
    const group = (groups[kindKey(object.apiVersion, object.kind)] ??= {});
    group[isQualified ? `${namespace}/${name}` : name] = sent(object);
  }
  return groups;
}

const kindKey = (apiVersion: string, kind: string): string => `${kind}.${apiVersion}`;
