import { sleepUnlessAborted } from "@drover/timers";
import {
  type Log,
  type Milliseconds,
  type ObjectKey,
  ReconcileFunction,
  functionLabel,
} from "@drover/controller";
import {
  builtin,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import type { FunctionUsers } from "../redis/function-users.ts";
import { type FunctionRef, functionRefOf } from "../function-ref.ts";
import { ownerUidOf } from "../objects/apply-object.ts";
import { redisUserName } from "../names.ts";
import { roleKinds } from "../roles/stale-roles.ts";
import { accessReviews } from "./access-reviews.ts";
import type { PermitRecord, PermitRecords } from "./permit-records.ts";

export interface PermitReviewOptions {
  readonly client: KubeClient;
  readonly records: PermitRecords;
  readonly functionUsers: Pick<FunctionUsers, "names" | "revoke">;
  /** The deployer's own namespace. Functions in it are not reviewed. */
  readonly namespace: string;
  readonly every: Milliseconds;
  /** Wakes a function's key. Its run then reports why the permit was lost. */
  readonly wake: (key: ObjectKey) => Promise<void>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Kinds of objects with which a function can act: without a permit all of them are deleted. */
const granting: readonly ResourceRef[] = [...roleKinds, builtin.pod];

/**
 * Consecutive reviews that a permit must fail before it is revoked: during one of them a Role may be being
 * replaced.
 */
const failuresUntilRevoked = 2;

/** The maximum number of functions that are reviewed, or lose what was granted to them, at the same time. */
const maxConcurrent = 8;

async function inBatches<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += maxConcurrent)
    await Promise.all(all.slice(i, i + maxConcurrent).map(act));
}

/**
 * Reviews every permit at regular intervals, and withdraws it when its author has lost a permission. The permit is
 * deleted, and with it all Roles, bindings and Pods of the function, and its Redis user. This uses neither the queue
 * nor the function's spec or status, so none of them can delay it. If there are several deployers, each does it.
 *
 * A review without an answer changes nothing. Roles, bindings and Pods without a permit are deleted, too: those of an
 * older version of Drover, of a spec that is refused, or of a function that was removed by force.
 *
 * @returns a promise that resolves after `signal` has fired.
 */
export async function reviewPermits(options: PermitReviewOptions): Promise<void> {
  const { every, log, signal } = options;
  const consecutiveFailures = new Map<string, number>();
  while (!signal.aborted) {
    await reviewOnce(options, consecutiveFailures).catch((error: unknown) => {
      if (!signal.aborted)
        log.warn({ err: error }, "Could not review the permits of functions; trying again");
    });
    // A permit that has failed is reviewed again soon, and withdrawn then.
    await sleepUnlessAborted(consecutiveFailures.size === 0 ? every : every / 4, signal);
  }
}

/**
 * Reviews all permits once.
 * @param consecutiveFailures consecutive failed reviews, by the uid of a function; changed by this review.
 */
export async function reviewOnce(
  options: PermitReviewOptions,
  consecutiveFailures: Map<string, number>,
): Promise<void> {
  const { client, records, log, signal } = options;
  // In this order: a permit is written before what it grants, and a function exists before its permit.
  const granted = await grantedObjects(client, signal);
  const users = new Set(await options.functionUsers.names());
  const permits = await records.list(signal);
  const functions = new Map(
    (await listAll(client, refOf(ReconcileFunction), { metadataOnly: true, signal })).map((one) => [
      one.metadata.uid,
      one,
    ]),
  );
  const lost = new Set(await lostPermits(options, permits, functions));
  const permitted = new Set(permits.flatMap(({ uid }) => (lost.has(uid) ? [] : uid)));
  const connected = [...functions.values()].filter(({ metadata }) => users.has(redisUserName(metadata)));
  const acting = [...granted.keys(), ...connected.map(({ metadata }) => metadata.uid)];
  const without = new Set([...lost, ...acting.filter((uid) => !permitted.has(uid))]);
  for (const uid of consecutiveFailures.keys()) if (!without.has(uid)) consecutiveFailures.delete(uid);
  await inBatches([...without], async (uid) => {
    const failures = (consecutiveFailures.get(uid) ?? 0) + 1;
    consecutiveFailures.set(uid, failures);
    const fn = functions.get(uid);
    try {
      if (failures >= failuresUntilRevoked) {
        await revokePermit(options, uid, granted.get(uid) ?? []);
        if (fn !== undefined && connected.includes(fn)) revokeUser(options, functionRefOf(fn));
      }
      if (fn !== undefined) await options.wake(keyOf(fn));
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ uid, err: error }, "Could not withdraw what was granted to a function; trying again");
    }
  });
}

/** The uids of permitted functions that no longer exist, or have an author that has lost a permission. */
async function lostPermits(
  { client, namespace, log, signal }: PermitReviewOptions,
  permits: readonly PermitRecord[],
  functions: ReadonlyMap<string, KubeObject>,
): Promise<readonly string[]> {
  // Made for this turn: equal accesses are reviewed once, and no answer is kept longer.
  const reviews = accessReviews(client, { remembered: Infinity, now: () => 0 });
  const lost: string[] = [];
  await inBatches(permits, async ({ uid, function: name, author, accesses }) => {
    const there = functions.get(uid);
    if (there === undefined) lost.push(uid);
    else if (there.metadata.namespace !== namespace) {
      try {
        const denied = await reviews.firstDenied(author, accesses, signal);
        if (denied === undefined) return;
        log.warn({ function: name, author: author.user, denied }, "The author has lost a permission");
        lost.push(uid);
      } catch (error) {
        signal.throwIfAborted();
        log.warn({ function: name, err: error }, "A review got no answer; the permit stays as it is");
      }
    }
  });
  return lost;
}

interface GrantedObject {
  readonly ref: ResourceRef;
  readonly object: KubeObject;
}

/** The objects with which functions can act, by the uid of their function. */
async function grantedObjects(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly GrantedObject[]>> {
  const byUid = new Map<string, GrantedObject[]>();
  for (const ref of granting) {
    for (const object of await listAll(client, ref, {
      labelSelector: functionLabel,
      metadataOnly: true,
      signal,
    })) {
      const uid = ownerUidOf(object);
      if (uid !== undefined) byUid.set(uid, [...(byUid.get(uid) ?? []), { ref, object }]);
    }
  }
  return byUid;
}

/** Deletes the permit first: without it bridge and gateway stop, and the next turn deletes whatever is left. */
async function revokePermit(
  { client, records, log, signal }: PermitReviewOptions,
  uid: string,
  granted: readonly GrantedObject[],
): Promise<void> {
  await records.drop(uid, signal);
  for (const { ref, object } of granted) {
    await client.delete(ref, keyOf(object), { uid: object.metadata.uid, signal });
  }
  if (granted.length > 0)
    log.warn({ uid, objects: granted.length }, "Withdrew what was granted to a function");
}

/** Not awaited, because Redis may not be available. If the user is left, the next turn finds it. */
function revokeUser({ functionUsers, log }: PermitReviewOptions, functionRef: FunctionRef): void {
  const user = redisUserName(functionRef);
  functionUsers.revoke(functionRef).then(
    () => log.warn({ user }, "Revoked the Redis user of a function without a permit"),
    (error: unknown) => log.warn({ err: error, user }, "Could not revoke a Redis user; trying again"),
  );
}
