import {
  type Duration,
  type FieldPath,
  finalizerOf,
  namesQueueOf,
  parseDuration,
  type QueueName,
  type ReconcileFunctionSpec,
} from "@drover/controller";
import type { IndexMapping, Lookup, Mapping, DirectMapping, Within } from "./mapping.ts";
import { type LabelSelector, resourceNameOf, refOf, type ResourceRef } from "@drover/kube";
import type { Subscription } from "./subscription.ts";
import { parseDeclaredPath } from "./parse-declared-path.ts";
import { InvalidRegistrationError } from "../registration/invalid-registration.ts";

/** A controller, and the kinds that it follows. */
export interface Follower {
  /** The queue of its objects. No other function has it, nor does one that is created again under the same name. */
  readonly controller: string;
  readonly follows: readonly Follow[];
}

/** A kind that a controller follows, and the subscription to it. */
export interface Follow {
  readonly ref: ResourceRef;
  readonly subscription: Omit<Subscription, "id">;
  /** For a lookup only: its objects have the entries of the index that is searched. */
  readonly looksInto?: Follow;
  /** The queue of the keys to wake, if it is not the controller's own. */
  readonly queue?: string;
}

/**
 * The kinds that a controller follows, from its declaration.
 *
 * @param name the controller's name, from which its finalizer is named.
 * @param valuePaths paths of values that identify the controller's objects outside the cluster: these are indexed, too.
 * @throws InvalidRegistrationError naming the field.
 */
export function followsOf(
  { name, queue }: { readonly name: string; readonly queue: QueueName },
  spec: Pick<ReconcileFunctionSpec, "for" | "owns" | "watches" | "copies">,
  valuePaths: readonly FieldPath[] = [],
): readonly Follow[] {
  const own = refOf(spec.for);
  const cached = cachedKinds(spec);
  const follow = (
    of: Watched & { readonly batchFor?: Duration | undefined },
    map: Mapping,
    at: string,
  ): Follow => ({
    ref: refOf(of),
    subscription: {
      for: own,
      map,
      // A namespaced object names keys of its own namespace only, unless the function allows more.
      ...("acrossNamespaces" in map &&
        map.acrossNamespaces === true && { keysIn: spec.for.namespaces?.toSorted() }),
      ...predicatesOf(of, at),
      ...(of.batchFor !== undefined && { batchFor: parseDuration(of.batchFor) }),
      ...(cached.has(resourceNameOf(refOf(of))) && { deltas: true }),
    },
  });
  const self = follow(spec.for, { by: "self" }, "spec.for");
  const { namespaces, selector } = self.subscription;
  if (spec.copies === true) refuseSecrets(own, "spec");
  const copied = spec.copies === true ? { copies: true } : {};
  const itself = {
    ...self,
    subscription: { ...self.subscription, ownFinalizer: finalizerOf(name), ...copied },
  };
  const indexFollow = (map: IndexMapping): Follow => ({
    ref: own,
    subscription: { for: own, map, namespaces, selector, ...copied },
  });
  return [
    itself,
    ...(spec.owns ?? []).map((of, i) => {
      const reach = of.acrossNamespaces === true ? { acrossNamespaces: true } : {};
      return follow(of, { by: "owner", ...reach }, `spec.owns[${i}]`);
    }),
    ...(spec.watches ?? []).flatMap((of, i) => {
      const at = `spec.watches[${i}]`;
      const map = mappingOf(of, own, `${at}.names`);
      if (of.related === true) refuseOtherNamespaces(of, own, at);
      if ("by" in map && map.by === "code") {
        if (cached.has(resourceNameOf(refOf(of))))
          throw new InvalidRegistrationError(
            `${at}.names.code: code finds the keys, so runs cannot get every change of this kind. Leave copies out of spec.owns for it.`,
          );
        const asking = { ...follow(of, map, at), queue: namesQueueOf(queue, of) };
        return [{ ...asking, subscription: { ...asking.subscription, for: asking.ref } }];
      }
      if (!("lookup" in map)) return [follow(of, map, at)];
      const looksInto = indexFollow(map.index);
      return [looksInto, { ...follow(of, map.lookup, at), looksInto }];
    }),
    ...valuePaths.map((path) => indexFollow({ by: "holds", path })),
  ];
}

type Watched = ReconcileFunctionSpec["for"];
type WatchedByName = NonNullable<ReconcileFunctionSpec["watches"]>[number];

function predicatesOf({ namespaces, labelSelector, changed, scope }: Watched, at: string) {
  if (namespaces !== undefined && scope === "Cluster") {
    throw new InvalidRegistrationError(`${at}.namespaces: a cluster-scoped kind has none. Leave it out.`);
  }
  return {
    namespaces: namespaces?.toSorted(),
    selector: labelSelector && selectorOf(labelSelector, `${at}.labelSelector`),
    changed: changed?.map((path, i) => parseDeclaredPath(path, `${at}.changed[${i}]`)),
  };
}

/** The kinds that a run has cached lists of. Wakes carry all changes of their objects, however these are mapped. */
function cachedKinds({ owns = [] }: Pick<ReconcileFunctionSpec, "owns">): ReadonlySet<string> {
  const kinds = new Set<string>();
  for (const [i, of] of owns.entries()) {
    if (of.copies !== true) continue;
    refuseSecrets(refOf(of), `spec.owns[${i}]`);
    kinds.add(resourceNameOf(refOf(of)));
  }
  return kinds;
}

/** @throws InvalidRegistrationError for Secrets, which must not be in Redis. */
function refuseSecrets({ group, plural }: ResourceRef, at: string): void {
  if (group !== "" || plural !== "secrets") return;
  throw new InvalidRegistrationError(
    `${at}.copies: Secrets are not copied to Redis. Leave it out: they are read live.`,
  );
}

/** @throws InvalidRegistrationError if a user could have the function read objects of other namespaces. */
function refuseOtherNamespaces({ names, scope }: WatchedByName, own: ResourceRef, at: string): void {
  if (names.acrossNamespaces !== true || scope === "Cluster" || !own.namespaced) return;
  throw new InvalidRegistrationError(
    `${at}.names.acrossNamespaces: an object gets related objects of its own namespace only. Leave it out.`,
  );
}

function selectorOf(
  { matchLabels, matchExpressions = [] }: NonNullable<Watched["labelSelector"]>,
  at: string,
): LabelSelector {
  return {
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }, i) => {
      const takesValues = operator === "In" || operator === "NotIn";
      if (takesValues !== values.length > 0) {
        throw new InvalidRegistrationError(
          `${at}.matchExpressions[${i}].values: ${operator} takes ${takesValues ? "at least one value" : "none"}.`,
        );
      }
      return takesValues ? { key, operator, values } : { key, operator };
    }),
  };
}

/** A lookup, and the index that it needs. */
interface IndexedLookup {
  readonly lookup: Lookup;
  readonly index: IndexMapping;
}

function mappingOf(
  { names, related = false, ...of }: WatchedByName,
  own: ResourceRef,
  at: string,
): DirectMapping | IndexedLookup {
  const { label, annotation, field, referencedBy, selectedBy, all, code, acrossNamespaces } = names;
  const reach = { acrossNamespaces };
  const path = (text: string, of: string) => parseDeclaredPath(text, `${at}.${of}`);
  const within = (): Within => withinOf(names, of, own, at);
  const given: readonly (() => DirectMapping | IndexedLookup)[] = [
    ...(label === undefined ? [] : [() => ({ by: "label", name: label, ...reach }) as const]),
    ...(annotation === undefined ? [] : [() => ({ by: "annotation", name: annotation, ...reach }) as const]),
    ...(field === undefined ? [] : [() => ({ by: "field", path: path(field, "field"), ...reach }) as const]),
    ...(referencedBy === undefined ? [] : [() => byReference(path(referencedBy, "referencedBy"), refOf(of))]),
    ...(selectedBy === undefined ? [] : [() => bySelector(path(selectedBy, "selectedBy"), within())]),
    ...(code === undefined ? [] : [() => (related ? affectingAll(within()) : ({ by: "code" } as const))]),
    ...(all === undefined ? [] : [() => affectingAll(within())]),
  ];
  const [mapping] = given;
  if (mapping === undefined || given.length > 1) {
    throw new InvalidRegistrationError(
      `${at}: give exactly one of label, annotation, field, referencedBy, selectedBy, all and code.`,
    );
  }
  return mapping();
}

const byReference = (path: FieldPath, to: ResourceRef): IndexedLookup => ({
  lookup: { by: "referencedBy" },
  index: { by: "references", path, to },
});

const bySelector = (path: FieldPath, within: Within): IndexedLookup => ({
  lookup: { by: "selectedBy", within },
  index: { by: "selects", path, within },
});

const affectingAll = (within: Within): IndexedLookup => ({
  lookup: { by: "all", within },
  index: { by: "presence", within },
});

/** How far the change of an object reaches in a lookup: its own namespace, unless more is granted. */
function withinOf({ acrossNamespaces }: Names, of: Watched, own: ResourceRef, at: string): Within {
  if (of.scope === "Cluster" || acrossNamespaces === true) return "cluster";
  if (own.namespaced) return "namespace";
  throw new InvalidRegistrationError(
    `${at}: objects in namespaces would cause runs of cluster-scoped ones. If that is intended, set acrossNamespaces: true.`,
  );
}

type Names = WatchedByName["names"];
