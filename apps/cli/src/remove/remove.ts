import {
  finalizerOf,
  type Milliseconds,
  type ObjectKey,
  oneLine,
  ReconcileFunction,
} from "@drover/controller";
import {
  establishedRefOf,
  keyOf,
  type KubeClient,
  type KubeObject,
  refOf,
  resourceNameOf,
} from "@drover/kube";
import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions, isForKind } from "../deployed-functions.ts";
import { findCrds } from "../find-crds.ts";
import { conditionOf } from "../object-conditions.ts";
import { shortDuration } from "../short-duration.ts";
import { pollInterval } from "../waiting/wait-until.ts";
import { refuseRunningDeployer, takeDown } from "./without-deployer.ts";
import { deleteSame, forEachObject, type Held, heldBy, heldObjects, releaseObject } from "./held-objects.ts";

/** The two ways to treat objects that have the function's finalizer. */
export type HeldChoice = "finalize" | "release";

export interface RemoveOptions {
  readonly key: ObjectKey;
  readonly choice: HeldChoice | undefined;
  /** True if the user agrees to the deletion of objects. */
  readonly isConfirmed: boolean;
  /** The kind of its objects, if the function is gone already. */
  readonly kind: string | undefined;
  /** How long objects and function may each take to go. */
  readonly wait: Milliseconds;
  /** The namespace in which the deployer ran that is gone for good. Undefined: the deployer removes the function. */
  readonly withoutDeployerIn: string | undefined;
  readonly print: (line: string) => void;
}

const ref = refOf(ReconcileFunction);

/**
 * Removes a function, and sees to it that no object is left with a finalizer that nothing removes any more. It may be
 * interrupted at any time, and repeated.
 *
 * Order, which is guaranteed: objects are finalized while the function runs; they are released only after the function
 * is gone, since it would add the finalizer again.
 */
export async function remove(client: KubeClient, options: RemoveOptions): Promise<void> {
  const { key, choice, print } = options;
  const functions = await deployedFunctions(client, undefined);
  const fn = functions.find((one) => one.key === key);
  if (fn === undefined) return releaseAfterwards(client, functions, options);
  const held = heldOf(fn);
  const { deletionTimestamp } = fn.object.metadata;
  if (options.withoutDeployerIn !== undefined) await refuseRunningDeployer(client, options.withoutDeployerIn);
  const other = sharing(functions, key, held);
  if (choice !== undefined && other !== undefined) throw sharedError(other, held, key);
  if (choice === "release") print(`If this is interrupted: ${releaseCommand(key, held)}`);
  if (deletionTimestamp === undefined) {
    await refuseUndeletable(client, fn);
    if (other === undefined) await finalizeObjects(client, held, options);
  }
  await deleteFunction(client, fn, options);
  if (other !== undefined) {
    print(`${other.key} has the same finalizer, and keeps the objects`);
    return;
  }
  if (choice === "release") return release(client, held, options);
  const left = await heldObjects(client, held);
  if (left.length === 0) return;
  throw new CommandError(
    `${count(left, held)} have the finalizer ${held.finalizer} of the function, which is gone. To remove it from them: ` +
      releaseCommand(key, held),
  );
}

/** A user who may not delete the function is refused before any object is deleted. */
export async function refuseUndeletable(client: KubeClient, { object }: DeployedFunction): Promise<void> {
  await client.delete(ref, keyOf(object), { uid: object.metadata.uid, dryRun: true });
}

/** Deletes the ReconcileFunction, if it is not being deleted, and waits until it is gone. */
export async function deleteFunction(
  client: KubeClient,
  fn: DeployedFunction,
  options: Pick<RemoveOptions, "withoutDeployerIn" | "wait" | "print">,
): Promise<void> {
  const { uid, deletionTimestamp } = fn.object.metadata;
  if (deletionTimestamp === undefined) await client.delete(ref, keyOf(fn.object), { uid });
  if (options.withoutDeployerIn !== undefined) await takeDown(client, fn, options.wait);
  await untilGone(client, fn, options);
  options.print(`ReconcileFunction ${fn.key}: removed`);
}

/** The command that releases the objects of a function that is gone. */
export const releaseCommand = (key: string, held: Held): string =>
  `drover remove ${key} --release --kind ${resourceNameOf(held.ref)}`;

export function heldOf({ key, name, spec }: DeployedFunction): Held {
  if (spec !== undefined) return heldBy(name, refOf(spec.for), spec.for.namespaces);
  throw new CommandError(
    `The spec of ${key} cannot be read, so the kind of its objects is not known. Deploy it again with a valid spec.`,
  );
}

/**
 * Another function whose objects cannot be distinguished from those of this one: it has the same finalizer, since it has the
 * same name, and is for objects of the same kind. A function with a spec that cannot be read may be for any kind.
 *
 * @param key of this function; undefined if it is gone.
 */
function sharing(
  functions: readonly DeployedFunction[],
  key: string | undefined,
  held: Held,
): DeployedFunction | undefined {
  const meets = (namespaces: readonly string[] = []): boolean =>
    [namespaces, held.namespaces].some((all) => all.length === 0) ||
    namespaces.some((one) => held.namespaces.includes(one));
  return functions.find(
    (one) =>
      one.key !== key &&
      finalizerOf(one.name) === held.finalizer &&
      (isForKind(one, held.ref) ?? true) &&
      meets(one.spec?.for.namespaces),
  );
}

const sharedError = (other: DeployedFunction, held: Held, key: string): CommandError =>
  new CommandError(
    `${other.key} has the same finalizer, ${held.finalizer}, and may have it on the same objects, which cannot be distinguished. ` +
      `Nothing was changed. drover remove ${key} without --finalize or --release leaves the objects to ${other.key}.`,
  );

/** Deletes the objects with the finalizer if that was asked for, and waits until the function has finalized them. */
async function finalizeObjects(
  client: KubeClient,
  held: Held,
  { key, choice, isConfirmed, wait, print }: RemoveOptions,
): Promise<void> {
  if (choice === "release") return;
  const found = await heldObjects(client, held);
  const first = found[0];
  if (first === undefined) return;
  const those = `${count(found, held)}, such as ${keyOf(first)},`;
  if (choice === undefined) {
    throw new CommandError(
      `${those} have the finalizer ${held.finalizer}, which only this function removes. Nothing was changed. Choose:\n` +
        `  drover remove ${key} --finalize --yes   deletes these objects; the function undoes what it made for them\n` +
        `  drover remove ${key} --release          keeps these objects and what the function made, without the finalizer`,
    );
  }
  if (!isConfirmed) {
    throw new CommandError(
      `--finalize deletes ${those} and what the function made for them. Nothing was changed. If that is right, add --yes.`,
    );
  }
  await deleteHeld(client, [held], { wait, print });
}

/**
 * Deletes all objects that these functions hold, and waits until they have finalized them. All together: an object may be
 * a child of another one, whose function makes it again until its parent is being deleted.
 */
export async function deleteHeld(
  client: KubeClient,
  helds: readonly Held[],
  { wait, print }: Pick<RemoveOptions, "wait" | "print">,
): Promise<void> {
  const progress = progressPrinter(print);
  const end = performance.now() + wait;
  for (let isFirst = true; ; isFirst = false) {
    const left = await Promise.all(
      helds.map(async (held) => ({ held, objects: await heldObjects(client, held) })),
    );
    const some = left.filter(({ objects }) => objects.length > 0);
    const [first] = some;
    const next = first?.objects[0];
    if (first === undefined || next === undefined) return;
    const counts = some.map((one) => count(one.objects, one.held)).join(", ");
    if (isFirst) print(`Deleting ${counts}`);
    for (const { held, objects } of some) {
      const alive = objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      await forEachObject(alive, (object) => deleteSame(client, held.ref, object));
    }
    progress(`${counts} are not finalized yet`);
    if (performance.now() >= end) {
      const why = `drover why ${resourceNameOf(first.held.ref)} ${keyOf(next)}`;
      throw new CommandError(
        `${counts} are not finalized after ${shortDuration(wait)}. To see why: ${why}. Then run this command again.`,
      );
    }
    await delay(pollInterval);
  }
}

/** Waits until the deployer has removed everything of the function, and the ReconcileFunction is gone. */
async function untilGone(
  client: KubeClient,
  fn: DeployedFunction,
  options: Pick<RemoveOptions, "wait" | "print">,
): Promise<void> {
  const progress = progressPrinter(options.print);
  const end = performance.now() + options.wait;
  for (;;) {
    const now = await client.get(ref, keyOf(fn.object));
    if (now?.metadata.uid !== fn.object.metadata.uid) return;
    const ready = conditionOf(now);
    const why =
      ready === undefined ? "the deployer has not removed it yet" : `${ready.reason}: ${ready.message}`;
    if (performance.now() >= end) throw notStopped(now, fn.key, why, options.wait);
    progress(`ReconcileFunction ${fn.key} is being removed`);
    await delay(pollInterval);
  }
}

function notStopped({ metadata }: KubeObject, key: string, why: string, wait: Milliseconds): CommandError {
  return new CommandError(
    oneLine(`${key} is not removed after ${shortDuration(wait)}: ${why}${why.endsWith(".") ? "" : "."} `) +
      `It has the finalizer ${metadata.finalizers?.join(", ") ?? "none"}. Does Drover's deployer run in this cluster? ` +
      "Run this command again when it does, or, if it is gone for good, with --without-deployer.",
  );
}

/**
 * Removes the finalizer from the objects that have it, and from those that got it meanwhile.
 *
 * @throws CommandError if something puts it on again: a function of this name, or one without a ReconcileFunction.
 */
export async function release(
  client: KubeClient,
  held: Held,
  { key, print }: { readonly key: string; readonly print: (line: string) => void },
): Promise<void> {
  const released = new Set<string>();
  for (;;) {
    const other = sharing(await deployedFunctions(client, undefined), undefined, held);
    if (other !== undefined) throw sharedError(other, held, key);
    const found = await heldObjects(client, held);
    const again = found.find(({ metadata }) => released.has(metadata.uid));
    if (again !== undefined) {
      throw new CommandError(
        `${keyOf(again)} has got the finalizer ${held.finalizer} again: a function still runs, such as one with a bridge in its own ` +
          "process. Stop it, and run this command again.",
      );
    }
    if (found.length === 0) break;
    await forEachObject(found, async (object) => {
      if (await releaseObject(client, held, object)) released.add(object.metadata.uid);
    });
  }
  print(`${released.size} ${resourceNameOf(held.ref)}: released from ${held.finalizer}`);
}

/** For a function that is gone. */
async function releaseAfterwards(
  client: KubeClient,
  functions: readonly DeployedFunction[],
  options: RemoveOptions,
): Promise<void> {
  const { key, choice, kind } = options;
  if (choice !== "release" || kind === undefined) {
    throw new CommandError(
      `There is no ReconcileFunction ${key}. If it is gone and its objects still have its finalizer: drover remove ${key} ` +
        "--release --kind PLURAL.GROUP",
    );
  }
  const refs = (await findCrds(client, kind)).flatMap((crd) => establishedRefOf(crd) ?? []);
  const [found, ...others] = refs;
  if (found === undefined || others.length > 0) {
    const which = refs.map(resourceNameOf).join(", ");
    throw new CommandError(
      found === undefined
        ? `No CRD defines ${JSON.stringify(kind)}. Give it as PLURAL.GROUP; for a kind of Kubernetes itself, use kubectl.`
        : `${JSON.stringify(kind)} may be ${which}. Give it as PLURAL.GROUP.`,
    );
  }
  const held = heldBy(key.slice(key.indexOf("/") + 1), found);
  const other = sharing(functions, undefined, held);
  if (other !== undefined) throw sharedError(other, held, key);
  await release(client, held, options);
}

/** Such as `2 buckets.example.com`. */
export const count = (objects: readonly KubeObject[], { ref: of }: Held): string =>
  `${objects.length} ${resourceNameOf(of)}`;

/** Prints a line if it is not the one before. */
function progressPrinter(print: (line: string) => void): (line: string) => void {
  let before = "";
  return (line) => {
    if (line !== before) print((before = line));
  };
}
