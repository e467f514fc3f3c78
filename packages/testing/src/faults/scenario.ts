import type { NewObject } from "@drover/kube";
import type { FunctionUnderTest } from "../function-under-test.ts";
import type { DeployedAs } from "../rights.ts";
import type { TestServerFactory } from "../test-server.ts";
import type { KindName } from "../kubectl/served-kinds.ts";
import type { Manifest, User } from "../kubectl/user.ts";

/** What people do, one thing after the other, while a function is to keep up with them. */
export interface Scenario {
  /** A sentence for people, such as `a site comes, changes and goes`. */
  readonly name: string;
  readonly start: FunctionUnderTest;
  /**
   * How the function is deployed: what `src/function.ts` exports, of several controllers each. What it does without a
   * permission is refused with 403, and found. Left out: it may do what follows from its controllers (for, owns, watches).
   */
  readonly deployedAs?: DeployedAs;
  /** Definitions of kinds that are neither Kubernetes' own nor the function's. */
  readonly crds?: readonly NewObject[];
  /** Objects that are there before the function is. */
  readonly given?: readonly Manifest[];
  readonly steps: readonly ScenarioStep[];
  /** Servers outside of the cluster that the function uses; started anew for every plan. */
  readonly outside?: () => Promise<OutsideWorld>;
  /** Where its API servers come from: a sandbox for each plan, or `sharedServer`, a real one. */
  readonly servers?: TestServerFactory;
  /**
   * Plans that are left out, by a part of their words, and why: those whose end must be another one, such as the loss of
   * what only an object that is taken away has held.
   */
  readonly except?: Readonly<Record<string, string>>;
}

export type ScenarioStep =
  | { readonly apply: Manifest }
  | { readonly delete: KindName & { readonly name: string } }
  /** Anything else; `title` is what the story says of it. */
  | {
      readonly title: string;
      readonly act: (user: User, outside: OutsideWorld | undefined) => Promise<unknown>;
    };

/** Servers that are no API servers. Faults meet every call that is no GET or HEAD, as they do the cluster's writes. */
export interface OutsideWorld {
  /** By the name under which the function finds it: a URL on loopback. */
  readonly urls: Readonly<Record<string, string>>;
  /** What there is now, as JSON: compared with what there is without faults. Nothing in it may depend on chance. */
  state(): Promise<unknown>;
  close(): Promise<void>;
}

/** What `drover test` reads from a module's default export. Answers its argument; it is there for its type. */
export const faultScenario = (scenario: Scenario): Scenario => scenario;

/** The manifest of what a step deletes, as it was applied last before it; undefined where none was. */
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

/** `you apply Site default/a` */
export function describeStep(step: ScenarioStep): string {
  if ("title" in step) return step.title;
  if ("apply" in step) {
    const { kind, metadata } = step.apply;
    return `somebody applies ${kind} ${[metadata.namespace, metadata.name].filter(Boolean).join("/")}`;
  }
  return `somebody deletes ${step.delete.kind} ${step.delete.name}`;
}
