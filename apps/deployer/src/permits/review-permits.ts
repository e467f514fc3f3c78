import { type Log, type Milliseconds, type ObjectKey, ReconcileFunction } from "@drover/controller";
import {
  builtin,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import { pause } from "@drover/runtime";
import type { FunctionAccounts } from "../function-accounts.ts";
import { type Home, homeOf } from "../home.ts";
import { ownerUidOf } from "../keep-object.ts";
import { functionLabel, redisUserOf } from "../names.ts";
import { roleKinds } from "../stale-roles.ts";
import { accessReviews } from "./access-reviews.ts";
import type { PermitRecord, PermitRecords } from "./permit-records.ts";

export interface PermitReviewOptions {
  readonly client: KubeClient;
  readonly records: PermitRecords;
  readonly accounts: Pick<FunctionAccounts, "names" | "revoke">;
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
 * Consecutive turns in which a permit must fail before it is withdrawn: during one of them a Role may be being
 * replaced.
 */
const turnsUntilWithdrawn = 2;

/** The maximum number of functions that are reviewed, or lose what was granted to them, at the same time. */
const atOnce = 8;

async function severalAtOnce<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += atOnce) await Promise.all(all.slice(i, i + atOnce).map(act));
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
  const wanting = new Map<string, number>();
  while (!signal.aborted) {
    await reviewOnce(options, wanting).catch((error: unknown) => {
      if (!signal.aborted)
        log.warn({ err: error }, "Could not review the permits of functions; trying again");
    });
    // A permit that has failed is reviewed again soon, and withdrawn then.
    await pause(wanting.size === 0 ? every : every / 4, signal);
  }
}

/**
 * Reviews all permits once.
 * @param wanting consecutive failed turns, by the uid of a function; changed by this turn.
 */
export async function reviewOnce(options: PermitReviewOptions, wanting: Map<string, number>): Promise<void> {
  const { client, records, log, signal } = options;
  // In this order: a permit is written before what it grants, and a function exists before its permit.
  const granted = await grantedObjects(client, signal);
  const users = new Set(await options.accounts.names());
  const permits = await records.list(signal);
  const functions = new Map(
    (await listAll(client, refOf(ReconcileFunction), { metadataOnly: true, signal })).map((one) => [
      one.metadata.uid,
      one,
    ]),
  );
  const lost = new Set(await lostPermits(options, permits, functions));
  const permitted = new Set(permits.flatMap(({ uid }) => (lost.has(uid) ? [] : uid)));
  const connected = [...functions.values()].filter(({ metadata }) => users.has(redisUserOf(metadata)));
  const acting = [...granted.keys(), ...connected.map(({ metadata }) => metadata.uid)];
  const without = new Set([...lost, ...acting.filter((uid) => !permitted.has(uid))]);
  for (const uid of wanting.keys()) if (!without.has(uid)) wanting.delete(uid);
  await severalAtOnce([...without], async (uid) => {
    const turns = (wanting.get(uid) ?? 0) + 1;
    wanting.set(uid, turns);
    const fn = functions.get(uid);
    try {
      if (turns >= turnsUntilWithdrawn) {
        await withdraw(options, uid, granted.get(uid) ?? []);
        if (fn !== undefined && connected.includes(fn)) revokeUser(options, homeOf(fn));
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
  await severalAtOnce(permits, async ({ uid, function: name, author, accesses }) => {
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

interface Granted {
  readonly ref: ResourceRef;
  readonly object: KubeObject;
}

/** The objects with which functions can act, by the uid of their function. */
async function grantedObjects(
  client: KubeClient,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Granted[]>> {
  const byUid = new Map<string, Granted[]>();
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
async function withdraw(
  { client, records, log, signal }: PermitReviewOptions,
  uid: string,
  granted: readonly Granted[],
): Promise<void> {
  await records.drop(uid, signal);
  for (const { ref, object } of granted) {
    await client.delete(ref, keyOf(object), { uid: object.metadata.uid, signal });
  }
  if (granted.length > 0)
    log.warn({ uid, objects: granted.length }, "Withdrew what was granted to a function");
}

/** Not awaited, because Redis may not be available. If the user is left, the next turn finds it. */
function revokeUser({ accounts, log }: PermitReviewOptions, home: Home): void {
  const user = redisUserOf(home);
  accounts.revoke(home).then(
    () => log.warn({ user }, "Revoked the Redis user of a function without a permit"),
    (error: unknown) => log.warn({ err: error, user }, "Could not revoke a Redis user; trying again"),
  );
}
