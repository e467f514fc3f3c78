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

/** The object that a run is about, and what the run knows of its versions. */
export interface OwnObject {
  /** As it came with the claim, where that is to be believed; else live. Undefined when there is none. */
  read(client: KubeClient): Promise<KubeObject | undefined>;
  /** To be told of the run's writes. */
  readonly follow: NonNullable<WriteGuard["follow"]>;
  /**
   * The newest version that was read or written; undefined where there may be a newer one of the run's own making.
   *
   * @param leaves whether the object is left, as it was seen last, for a run that may follow soon.
   */
  saw(leaves: boolean): Sight | undefined;
}

/**
 * @param copies whether the controller declares `copies`. Without it every run reads live: what Redis says of an object is not
 *   evidence for a controller that grants rights, for instance.
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
      // One that is about to go may be gone by now.
      const copy = leaves && deletionTimestamp === undefined ? copyOf(newest) : undefined;
      return { kind, uid, resourceVersion, ...(copy !== undefined && { copy }) };
    },
  };
}

/** The copy that came with the claim, unless it is not what the queue says it is: then somebody else has changed it. */
function givenCopy(
  ref: ResourceRef,
  { key, claim }: { readonly key: ObjectKey; readonly claim: Run["claim"] },
): KubeObject | undefined {
  const object = claim.copy === undefined ? undefined : objectIn(ref, claim.copy);
  if (object === undefined || keyOf(object) !== key || object.metadata.uid !== claim.uid) return undefined;
  const heard = claim.versions[nameOf(ref)];
  return heard === object.metadata.resourceVersion ? object : undefined;
}
