import { isAvailable, type Pod } from "@drover/workloads";
import { boundsOf, type DaemonSetObject } from "../daemon-set.ts";
import type { Changes, NodeName, Placed } from "../daemon-set-run.ts";
import { isLeaving, isUpdated } from "../pods/daemon-pod.ts";

/** The state of a DaemonSet on its nodes. */
export interface Rollout extends Placed {
  readonly daemonSet: DaemonSetObject;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Old pods that may be replaced now: deleted, or with a surge, joined by a new one and deleted once that is available. */
export function rollingUpdate(rollout: Rollout): Changes {
  const { daemonSet, placements } = rollout;
  const desired = [...placements].filter(([, placement]) => placement === "run").map(([node]) => node);
  const { maxSurge, maxUnavailable } = boundsOf(daemonSet, desired.length);
  const places = [...new Set([...rollout.pods.keys(), ...desired])].map((node) => placeOf(rollout, node));
  return maxSurge === 0
    ? { create: [], delete: replaceable(places, maxUnavailable) }
    : surge(places, desired.length, maxSurge);
}

/** A node, and its pods that are not being deleted. */
interface Place {
  readonly node: NodeName;
  readonly shouldRun: boolean;
  /** It has several old pods, or several new ones, and some will go. */
  readonly isCrowded: boolean;
  readonly old: OnNode | undefined;
  readonly fresh: OnNode | undefined;
}
interface OnNode {
  readonly pod: Pod;
  readonly isAvailable: boolean;
}

function placeOf({ daemonSet, hash, pods, placements, now }: Rollout, node: NodeName): Place {
  const staying = (pods.get(node) ?? [])
    .filter((pod) => !isLeaving(pod))
    .map((pod) => ({ pod, isAvailable: isAvailable(pod, daemonSet.spec.minReadySeconds, now) }));
  const [fresh, old] = [true, false].map((isNew) =>
    staying.filter(({ pod }) => isUpdated(daemonSet, pod, hash) === isNew),
  ) as [OnNode[], OnNode[]];
  const isCrowded = old.length > 1 || fresh.length > 1;
  return { node, shouldRun: placements.get(node) === "run", isCrowded, old: old[0], fresh: fresh[0] };
}

/**
 * Old pods that are not available anyway, and as many others as may become unavailable. A node without exactly one pod
 * counts as unavailable, and so does a new pod until it is available.
 */
function replaceable(places: readonly Place[], maxUnavailable: number): readonly Pod[] {
  const isSettled = ({ isCrowded, old, fresh }: Place): boolean =>
    !isCrowded && (old === undefined) !== (fresh === undefined);
  const olds = places.filter(isSettled).flatMap(({ old }) => old ?? []);
  const available = places.filter(isSettled).filter(({ old, fresh }) => (old ?? fresh)?.isAvailable === true);
  const room = Math.max(0, maxUnavailable - (places.length - available.length));
  return [
    ...olds.filter((one) => !one.isAvailable),
    ...olds.filter((one) => one.isAvailable).slice(0, room),
  ].map(({ pod }) => pod);
}

/**
 * New pods beside old ones: beside each that is not available, and beside as many others as the surge allows. An old pod
 * goes once its new one is available. On a node that should not run one any more, it goes if it is not available, or
 * if more pods are available than there are nodes that should run one.
 */
function surge(places: readonly Place[], desired: number, maxSurge: number): Changes {
  const clear = places.filter(({ isCrowded }) => !isCrowded);
  const available = clear.filter(({ old, fresh }) => (old ?? fresh)?.isAvailable === true).length;
  const joined = clear.filter(({ old, fresh }) => old !== undefined && fresh !== undefined);
  const alone = clear.filter(({ old, fresh }) => old !== undefined && fresh === undefined);
  const pending =
    places.length - clear.length + joined.filter(({ fresh }) => fresh?.isAvailable === false).length;
  const candidates = alone.filter((one) => one.shouldRun && one.old?.isAvailable === true);
  const leaving = alone.filter((one) => !one.shouldRun);
  const podsOf = (some: readonly Place[]): readonly Pod[] => some.flatMap(({ old }) => old?.pod ?? []);
  return {
    create: [
      ...alone.filter((one) => one.shouldRun && one.old?.isAvailable === false),
      ...candidates.slice(0, Math.max(0, maxSurge - pending)),
    ].map(({ node }) => ({ node })),
    delete: podsOf([
      ...joined.filter(({ fresh }) => fresh?.isAvailable === true),
      ...leaving.filter(({ old }) => old?.isAvailable === false),
      ...leaving.filter(({ old }) => old?.isAvailable === true).slice(0, Math.max(0, available - desired)),
    ]),
  };
}
