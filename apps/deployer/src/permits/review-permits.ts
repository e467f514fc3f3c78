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
  /** The deployer's own: its functions are not reviewed. */
  readonly namespace: string;
  readonly every: Milliseconds;
  /** Has a function reconciled, which then states why it has lost its permit. */
  readonly wake: (key: ObjectKey) => Promise<void>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Kinds of objects with which a function can act: without a permit none of them stays. */
const granting: readonly ResourceRef[] = [...roleKinds, builtin.pod];

/** Turns in a row in which a permit must be found wanting before it is withdrawn: a Role may be replaced just then. */
const turnsUntilWithdrawn = 2;

/** Functions that are reviewed, or lose what was granted to them, at the same time. */
const atOnce = 8;

async function severalAtOnce<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += atOnce) await Promise.all(all.slice(i, i + atOnce).map(act));
}

/**
 * Reviews every permit again and again, and withdraws one whose author has lost a permission: the permit goes, and with it
 * all Roles, bindings and Pods of the function, and its Redis user. It does not stand on the queue, on the function's spec or on its status, so
 * none of them can hold it up. Of several deployers each does it.
 *
 * A review that gets no answer changes nothing. Roles, bindings and Pods without a permit go, too: those of an older version
 * of Drover, of a spec that is refused, or of a function that was removed by force.
 *
 * @returns a promise that resolves when `signal` has ended it.
 */
export async function reviewPermits(options: PermitReviewOptions): Promise<void> {
  const { every, log, signal } = options;
  const wanting = new Map<string, number>();
  while (!signal.aborted) {
    await reviewOnce(options, wanting).catch((error: unknown) => {
      if (!signal.aborted)
        log.warn({ err: error }, "Could not review the permits of functions; trying again");
    });
    // What is wanting is looked at again soon: it is withdrawn then.
    await pause(wanting.size === 0 ? every : every / 4, signal);
  }
}

/**
 * One turn over all permits.
 * @param wanting turns in a row, by the uid of a function; changed by this turn.
 */
export async function reviewOnce(options: PermitReviewOptions, wanting: Map<string, number>): Promise<void> {
  const { client, records, log, signal } = options;
  // In this order: what is granted has a permit that was written before, and a permit has a function that was there before.
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

/** The functions whose author may no longer do what was permitted, or that are there no more. */
async function lostPermits(
  { client, namespace, log, signal }: PermitReviewOptions,
  permits: readonly PermitRecord[],
  functions: ReadonlyMap<string, KubeObject>,
): Promise<readonly string[]> {
  // Made for this turn: what is asked twice is asked once, and nothing is remembered longer.
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

/** What functions can act with, by the uid of its function. */
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

/** The permit first: with it gone, bridge and gateway stop; and what is left is found without a permit by the next turn. */
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

/** Not waited for, as Redis may be away. The next turn finds the user if it is still there. */
function revokeUser({ accounts, log }: PermitReviewOptions, home: Home): void {
  const user = redisUserOf(home);
  accounts.revoke(home).then(
    () => log.warn({ user }, "Revoked the Redis user of a function without a permit"),
    (error: unknown) => log.warn({ err: error, user }, "Could not revoke a Redis user; trying again"),
  );
}
