import type { Controller } from "@drover/controller";
import type { KubeClient } from "@drover/kube";

/** What a function stands on in a test, in place of what its process would open. */
export interface FunctionEnvironment {
  /** The API server, as the function reaches it: every fault is on that way. */
  readonly client: KubeClient;
  /** The URLs of the servers outside of the cluster, by the name that the test gave them; faults are on that way, too. */
  readonly outside: Readonly<Record<string, string>>;
  /** The test's clock. */
  readonly now: () => Date;
}

/** What one process of the function runs. */
export interface RunningFunction {
  readonly controllers: readonly Controller[];
  /** Gives back what the controllers stand on. */
  close?(): void | Promise<void>;
}

/**
 * Starts a process: called when the function's process would start, and again after every kill. What it keeps in memory
 * must be made in here, or it would survive what no process survives.
 */
export type FunctionUnderTest = (
  world: FunctionEnvironment,
) => Controller | RunningFunction | Promise<Controller | RunningFunction>;

/** Begins one: a controller that stands alone is all that it runs. */
export async function startFunction(
  start: FunctionUnderTest,
  world: FunctionEnvironment,
): Promise<RunningFunction> {
  const begun = await start(world);
  return "controllers" in begun ? begun : { controllers: [begun] };
}
