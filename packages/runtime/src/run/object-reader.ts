import type { ObjectKey } from "@drover/controller";
import {
  cachedObjectText,
  keyOf,
  type KubeClient,
  type KubeObject,
  resourceNameOf,
  parseCachedObject,
  type ResourceRef,
  versionOrder,
  type WriteGuard,
  type WriteOutcome,
} from "@drover/kube";
import type { Run, ObservedVersion } from "@drover/queue";

/** The object of a run, and the versions of it that the run has seen. */
export interface ObjectReader {
  /**
   * Returns the cached object that came with the claim, if it is valid; else reads live. Undefined if the object does
   * not exist.
   */
  read(client: KubeClient): Promise<KubeObject | undefined>;
  /** Observes the run's writes. */
  readonly observeWrite: NonNullable<WriteGuard["observeWrite"]>;
  /**
   * The newest version that was read or written; undefined if the run may have created a newer one.
   *
   * @param leaves if true, the object as last seen is included, for a run that may follow soon.
   */
  observed(leaves: boolean): ObservedVersion | undefined;
}

/**
 * @param copies true if the controller declares `copies`. Without it every run reads live: an object from Redis is not
 * sufficient evidence for a controller that grants rights, for instance.
 */
export function objectReader(
  { ref, copies }: { readonly ref: ResourceRef; readonly copies: boolean },
  { key, claim, signal }: Run,
): ObjectReader {
  const kind = resourceNameOf(ref);
  let newest: KubeObject | undefined;
  let underWay = 0;
  let isKnown = true;
  const observe = (object: KubeObject): void => {
    const { resourceVersion } = object.metadata;
    const order =
      newest === undefined ? "newer" : versionOrder(resourceVersion, newest.metadata.resourceVersion);
    if (order === "newer") newest = object;
    if (order === "incomparable") isKnown = false;
  };
  const ended = (outcome: WriteOutcome): void => {
    underWay -= 1;
    if (outcome === "unknown") isKnown = false;
    else if (outcome !== "refused") observe(outcome);
  };
  return {
    async read(client) {
      const cached = copies ? validCachedObject(ref, { key, claim }) : undefined;
      const object = cached ?? (await client.get(ref, key, { signal }));
      if (object !== undefined) observe(object);
      return object;
    },
    observeWrite(of, written) {
      if (resourceNameOf(of) !== kind || written !== key) return () => undefined;
      underWay += 1;
      return ended;
    },
    observed(leaves) {
      if (newest === undefined || !isKnown || underWay > 0) return undefined;
      const { uid, resourceVersion, deletionTimestamp } = newest.metadata;
      // An object that is being deleted may be gone by now.
      const cachedObject = leaves && deletionTimestamp === undefined ? cachedObjectText(newest) : undefined;
      return { kind, uid, resourceVersion, ...(cachedObject !== undefined && { cachedObject }) };
    },
  };
}

/**
 * The cached object that came with the claim; undefined if it is not the version that the queue names, because another
 * client has changed it in Redis then.
 */
function validCachedObject(
  ref: ResourceRef,
  { key, claim }: { readonly key: ObjectKey; readonly claim: Run["claim"] },
): KubeObject | undefined {
  const object = claim.cachedObject === undefined ? undefined : parseCachedObject(ref, claim.cachedObject);
  if (object === undefined || keyOf(object) !== key || object.metadata.uid !== claim.uid) return undefined;
  const version = claim.versions[resourceNameOf(ref)];
  return version === object.metadata.resourceVersion ? object : undefined;
}
