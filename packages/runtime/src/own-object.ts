import type { ObjectKey } from "@drover/controller";
import {
  copyOf,
  keyOf,
  type KubeClient,
  type KubeObject,
  nameOf,
  objectIn,
  type ResourceRef,
  versionOrder,
  type WriteGuard,
  type WriteOutcome,
} from "@drover/kube";
import type { Run, Sight } from "@drover/queue";

/** The object of a run, and the versions of it that the run has seen. */
export interface OwnObject {
  /**
   * Returns the cached object that came with the claim, if it is valid; else reads live. Undefined if the object does
   * not exist.
   */
  read(client: KubeClient): Promise<KubeObject | undefined>;
  /** Observes the run's writes. */
  readonly follow: NonNullable<WriteGuard["follow"]>;
  /**
   * The newest version that was read or written; undefined if the run may have created a newer one.
   *
   * @param leaves if true, the object as last seen is included, for a run that may follow soon.
   */
  saw(leaves: boolean): Sight | undefined;
}

/**
 * @param copies true if the controller declares `copies`. Without it every run reads live: an object from Redis is not
 * sufficient evidence for a controller that grants rights, for instance.
 */
export function ownObject(
  { ref, copies }: { readonly ref: ResourceRef; readonly copies: boolean },
  { key, claim, signal }: Run,
): OwnObject {
  const kind = nameOf(ref);
  let newest: KubeObject | undefined;
  let underWay = 0;
  let isKnown = true;
  const see = (object: KubeObject): void => {
    const { resourceVersion } = object.metadata;
    const order =
      newest === undefined ? "newer" : versionOrder(resourceVersion, newest.metadata.resourceVersion);
    if (order === "newer") newest = object;
    if (order === "incomparable") isKnown = false;
  };
  const ended = (outcome: WriteOutcome): void => {
    underWay -= 1;
    if (outcome === "unknown") isKnown = false;
    else if (outcome !== "refused") see(outcome);
  };
  return {
    async read(client) {
      const copy = copies ? givenCopy(ref, { key, claim }) : undefined;
      const object = copy ?? (await client.get(ref, key, { signal }));
      if (object !== undefined) see(object);
      return object;
    },
    follow(of, written) {
      if (nameOf(of) !== kind || written !== key) return () => undefined;
      underWay += 1;
      return ended;
    },
    saw(leaves) {
      if (newest === undefined || !isKnown || underWay > 0) return undefined;
      const { uid, resourceVersion, deletionTimestamp } = newest.metadata;
      // An object that is being deleted may be gone by now.
      const copy = leaves && deletionTimestamp === undefined ? copyOf(newest) : undefined;
      return { kind, uid, resourceVersion, ...(copy !== undefined && { copy }) };
    },
  };
}

/**
 * The cached object that came with the claim; undefined if it is not the version that the queue names, because another
 * client has changed it in Redis then.
 */
function givenCopy(
  ref: ResourceRef,
  { key, claim }: { readonly key: ObjectKey; readonly claim: Run["claim"] },
): KubeObject | undefined {
  const object = claim.copy === undefined ? undefined : objectIn(ref, claim.copy);
  if (object === undefined || keyOf(object) !== key || object.metadata.uid !== claim.uid) return undefined;
  const heard = claim.versions[nameOf(ref)];
  return heard === object.metadata.resourceVersion ? object : undefined;
}
