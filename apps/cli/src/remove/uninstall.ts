import { ReconcileFunction } from "@drover/controller";
import { type KubeClient, refOf, resourceNameOf } from "@drover/kube";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { checkFinalizers } from "../doctor/check-finalizers.ts";
import { describeFindings } from "../doctor/finding.ts";
import {
  deleteFunction,
  finalizeObjects,
  heldOf,
  refuseUndeletable,
  release,
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
 * @throws CommandError without a choice, or if objects are left with the finalizer of a function that was gone before.
 */
export async function uninstall(client: KubeClient, options: UninstallOptions): Promise<void> {
  const { choice, print, droverNamespace, withoutDeployerIn } = options;
  const functions = await removable(client);
  if (choice === undefined && functions.length > 0) throw listed(functions);
  const each = functions.map((fn) => ({ fn, key: fn.key, held: heldOf(fn) }));
  if (withoutDeployerIn !== undefined) await refuseRunningDeployer(client, withoutDeployerIn);
  for (const { fn } of each) await refuseUndeletable(client, fn);
  for (const { key, held } of each) await finalizeObjects(client, held, { ...options, key });
  for (const { fn } of each) await deleteFunction(client, fn, options);
  if (choice === "release") for (const { key, held } of each) await release(client, held, { key, print });
  const findings = await checkFinalizers(client, [], Date.now());
  const left = findings.filter(({ level }) => level !== "ok");
  if (left.length > 0)
    throw new CommandError(["No function is left, but:", ...describeFindings(left)].join("\n"));
  print(`No function is left. Next: helm uninstall drover -n ${droverNamespace}`);
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
