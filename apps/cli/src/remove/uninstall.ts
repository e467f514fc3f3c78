import { ReconcileFunction } from "@drover/controller";
import { type KubeClient, refOf, resourceNameOf } from "@drover/kube";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { checkFinalizers } from "../doctor/check-finalizers.ts";
import { describeFindings } from "../doctor/finding.ts";
import { type Held, heldObjects } from "./held-objects.ts";
import {
  count,
  deleteFunction,
  deleteHeld,
  heldOf,
  refuseUndeletable,
  release,
  releaseCommand,
  type RemoveOptions,
} from "./remove.ts";
import { refuseRunningDeployer } from "./without-deployer.ts";

export type UninstallOptions = Omit<RemoveOptions, "key" | "kind"> & {
  /** The namespace in which Drover is installed. */
  readonly droverNamespace: string;
};

/**
 * Removes all functions, so that Drover can be uninstalled and nothing that it leaves holds an object or a namespace. May
 * be interrupted at any time, and repeated.
 *
 * Order, which is guaranteed: objects are finalized while the functions run; they are released only after all functions
 * are gone.
 *
 * @throws CommandError without a choice, or if objects are left with the finalizer of a function that is gone.
 */
export async function uninstall(client: KubeClient, options: UninstallOptions): Promise<void> {
  const { choice, print, droverNamespace, withoutDeployerIn } = options;
  const functions = await removable(client);
  if (choice === undefined && functions.length > 0) throw listed(functions);
  const each = functions.map((fn) => ({ fn, key: fn.key, held: heldOf(fn) }));
  if (withoutDeployerIn !== undefined) await refuseRunningDeployer(client, withoutDeployerIn);
  for (const { fn } of each) await refuseUndeletable(client, fn);
  if (choice === "finalize") await finalizeAll(client, each, options);
  else for (const { key, held } of each) print(`If this is interrupted: ${releaseCommand(key, held)}`);
  for (const { fn } of each) await deleteFunction(client, fn, options);
  if (choice === "release") for (const { key, held } of each) await release(client, held, { key, print });
  const left = await leftovers(client, each);
  if (left.length > 0) throw new CommandError(["No function is left, but:", ...left].join("\n"));
  print(`No function is left. Next: helm uninstall drover -n ${droverNamespace}`);
}

interface Removed {
  readonly fn: DeployedFunction;
  readonly key: string;
  readonly held: Held;
}

async function finalizeAll(
  client: KubeClient,
  each: readonly Removed[],
  { isConfirmed, wait, print }: UninstallOptions,
): Promise<void> {
  if (!isConfirmed)
    throw new CommandError(
      "--finalize deletes all objects with a finalizer of these functions, and what they made for them. Nothing was changed. " +
        "If that is right, add --yes.",
    );
  for (const { fn, key, held } of each) {
    if (fn.object.metadata.deletionTimestamp === undefined) continue;
    const objects = await heldObjects(client, held);
    if (objects.length > 0)
      throw new CommandError(
        `${key} is being deleted, so it no longer finalizes its ${count(objects, held)}. Nothing was changed. To keep them without ` +
          `its finalizer: drover remove ${key} --release. Then run this command again.`,
      );
  }
  await deleteHeld(
    client,
    each.map(({ held }) => held),
    { wait, print },
  );
}

/** The objects that still have a finalizer of a function, as lines with what to do. */
async function leftovers(client: KubeClient, each: readonly Removed[]): Promise<readonly string[]> {
  const lines = await Promise.all(
    each.map(async ({ key, held }) => {
      const objects = await heldObjects(client, held);
      if (objects.length === 0) return [];
      return [
        `${count(objects, held)} got the finalizer ${held.finalizer} meanwhile: ${releaseCommand(key, held)}`,
      ];
    }),
  );
  const findings = await checkFinalizers(client, [], Date.now());
  return [...lines.flat(), ...describeFindings(findings.filter(({ level }) => level !== "ok"))];
}

const listed = (functions: readonly DeployedFunction[]): CommandError =>
  new CommandError(
    `These functions would be removed: ${functions.map(({ key }) => key).join(", ")}. Nothing was changed. Choose what becomes of ` +
      "the objects that have their finalizers:\n" +
      "  drover uninstall --finalize --yes   deletes these objects; the functions undo what they made for them\n" +
      "  drover uninstall --release          keeps these objects and what the functions made, without the finalizers",
  );

/** The functions of the cluster without the deployer itself, which removes the others. */
async function removable(client: KubeClient): Promise<readonly DeployedFunction[]> {
  const own = resourceNameOf(refOf(ReconcileFunction));
  const all = await deployedFunctions(client, undefined);
  return all.filter(({ spec }) => spec === undefined || resourceNameOf(refOf(spec.for)) !== own);
}
