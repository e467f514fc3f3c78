import type { NewObject } from "@drover/kube";
import type { FunctionUnderTest } from "../function-under-test.ts";
import type { DeployedAs } from "../rights.ts";
import type { TestServerFactory } from "../test-server.ts";
import type { KindName } from "../kubectl/served-kinds.ts";
import type { Manifest, User } from "../kubectl/user.ts";

/** Steps of users, one after the other, to which a function reacts. */
export interface Scenario {
  /** A sentence, such as `a site is created, changed and deleted`. */
  readonly name: string;
  readonly start: FunctionUnderTest;
  /**
   * True for a function that is called: `outside` has its address, each request there is a call, and `crds` has its kinds.
   */
  readonly isCalled?: boolean;
  /**
   * How the function is deployed: the exports of `src/function.ts`, one for each controller. A call without a permission is
   * refused with 403 and reported. Default: the permissions that follow from its controllers (for, owns, watches).
   */
  readonly deployedAs?: DeployedAs;
  /** CRDs of kinds that are neither Kubernetes' own nor the function's. */
  readonly crds?: readonly NewObject[];
  /** Objects that exist before the function starts. */
  readonly given?: readonly Manifest[];
  readonly steps: readonly ScenarioStep[];
  /** Starts the servers outside of the cluster that the function uses; called for every plan. */
  readonly outside?: () => Promise<OutsideWorld>;
  /** The API servers: a sandbox for each plan (the default), or `sharedServer` for a real one. */
  readonly servers?: TestServerFactory;
  /**
   * Plans that are left out: a part of the plan's description, and the reason. For plans that must reach another end, such as
   * the loss of data that only a deleted object contained.
   */
  readonly except?: Readonly<Record<string, string>>;
  /**
   * Values that are not compared: the path in any object, and the reason. For fields in which two correct ends may differ,
   * such as the time of the last write.
   */
  readonly uncompared?: Readonly<Record<string, string>>;
}

export type ScenarioStep = (
  | { readonly apply: Manifest }
  | { readonly delete: KindName & { readonly name: string } }
  /** Any other step; `title` describes it in messages. */
  | {
      readonly title: string;
      readonly act: (user: User, outside: OutsideWorld | undefined) => Promise<unknown>;
    }
) & {
  /** Where it is written, for the error if it cannot be done. */
  readonly at?: string;
};

/**
 * Servers other than API servers. Every request is a write, and meets the same faults, but for GET, HEAD, and actions of
 * the query protocol of AWS that begin with Describe, Get or List.
 */
export interface OutsideWorld {
  /** URLs on loopback, by the names under which the function finds them. */
  readonly urls: Readonly<Record<string, string>>;
  /** The current state as JSON, to compare with the run without faults. It must be deterministic. */
  state(): Promise<unknown>;
  close(): Promise<void>;
}

/** Gives a scenario its type, for the default export that `drover test` reads. Returns its argument. */
export const faultScenario = (scenario: Scenario): Scenario => scenario;

/** The last manifest of the object that a step deletes; undefined if the step deletes none, or none was applied. */
export function lastApplied({ given = [], steps }: Scenario, step: number): Manifest | undefined {
  const deleted = steps[step - 1];
  if (deleted === undefined || !("delete" in deleted)) return undefined;
  const [name, namespace = "default"] = deleted.delete.name.split("/").reverse();
  const applied = steps.slice(0, step - 1).flatMap((one) => ("apply" in one ? [one.apply] : []));
  return [...given, ...applied].findLast(
    ({ kind, metadata }) =>
      kind === deleted.delete.kind &&
      metadata.name === name &&
      (metadata.namespace ?? "default") === namespace,
  );
}

/** A step of a scenario that is written in a file cannot be done. */
export class ScenarioStepError extends Error {
  override readonly name = "ScenarioStepError";
}

/** As in `a user applies Site default/a`. */
export function describeStep(step: ScenarioStep): string {
  if ("title" in step) return step.title;
  if ("apply" in step) {
    const { kind, metadata } = step.apply;
    return `a user applies ${kind} ${[metadata.namespace, metadata.name].filter(Boolean).join("/")}`;
  }
  return `a user deletes ${step.delete.kind} ${step.delete.name}`;
}
