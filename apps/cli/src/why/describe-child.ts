import { type ObjectKey, oneLine, parentsOf, type ReconcileFunctionSpec } from "@drover/controller";
import { controllerOf, keyOf, type KubeClient, type KubeObject, refOf, resourceNameOf } from "@drover/kube";
import { CommandError } from "../command-error.ts";
import { type DeployedFunction, deployedFunctions } from "../deployed-functions.ts";
import { isReadable, type ObjectQuery, queriedKey, wordsOf } from "../find-object.ts";
import { conditionOf } from "../object-conditions.ts";
import { readObject } from "./key-facts.ts";

type FunctionKind = ReconcileFunctionSpec["for"];

/**
 * Explains an object of a kind that functions own: which object it is a child of, and how to ask about that.
 *
 * @returns undefined if no function owns the kind, or there is no such object.
 */
export async function describeChild(client: KubeClient, query: ObjectQuery): Promise<string | undefined> {
  const functions = await deployedFunctions(client, undefined).catch(
    (error: unknown): readonly DeployedFunction[] => {
      if (error instanceof CommandError) return []; // Drover's kinds are not installed.
      throw error;
    },
  );
  for (const fn of functions.filter(isReadable)) {
    for (const owned of fn.spec.owns ?? []) {
      if (!wordsOf(owned).includes(query.kind.toLowerCase())) continue;
      const child = await readObject(client, owned, queriedKey(query, owned.scope));
      const [key] = child === undefined ? [] : parentsOf(child.metadata, refOf(fn.spec.for), owned);
      if (child === undefined || key === undefined) continue;
      return childText(
        child,
        { kind: fn.spec.for, key, object: await readObject(client, fn.spec.for, key) },
        fn,
      );
    }
  }
  return undefined;
}

interface Parent {
  readonly kind: FunctionKind;
  readonly key: ObjectKey;
  /** Undefined if it does not exist. */
  readonly object: KubeObject | undefined;
}

const uidOfParent = ({ metadata }: KubeObject): string | undefined =>
  controllerOf(metadata)?.uid ?? metadata.labels?.["drover.dev/owner-uid"];

function childText(child: KubeObject, { kind, key, object }: Parent, { key: fn }: DeployedFunction): string {
  const ready = object && conditionOf(object);
  const state =
    object === undefined
      ? "That object does not exist (any more)."
      : uidOfParent(child) !== object.metadata.uid
        ? "That is of an earlier object of this name: this child is not one of the present object."
        : ready === undefined
          ? "It has no Ready condition yet."
          : `Its Ready condition is ${ready.status}, ${ready.reason}: ${ready.message}`;
  return [
    oneLine(
      `${child.kind} ${keyOf(child)} is a child of ${kind.kind} ${key}, of the function ${fn}. ${state}`,
    ),
    "",
    oneLine(`  More about it: drover why ${resourceNameOf(refOf(kind))} ${key}`),
  ].join("\n");
}
