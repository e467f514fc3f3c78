import type { Controller, ReconcileFunctionSpec } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { Run } from "@drover/queue";

/** The clients and the clock of a function in a test, in place of those that its process would open. */
export interface FunctionEnvironment {
  /** A client of the API server; its calls meet the faults. */
  readonly client: KubeClient;
  /** The URLs of the servers outside of the cluster, by the names that the test gave them; calls to them meet faults, too. */
  readonly outside: Readonly<Record<string, string>>;
  /** The test's clock. */
  readonly now: () => Date;
}

/** The controllers of one process of the function. */
export interface RunningFunction {
  readonly controllers: readonly Controller[];
  /** Set for a function that is called over HTTP: `controllers` then has only its settings. */
  readonly called?: CalledUnderTest;
  /** Releases the resources of the controllers. */
  close?(): void | Promise<void>;
}

/** A function that is called over HTTP. Its calls go to the server `outside.function`, where they meet faults. */
export interface CalledUnderTest {
  /** The spec of its ReconcileFunction. */
  readonly spec: ReconcileFunctionSpec;
  /** The controller of one run, which calls the function. */
  readonly controllerFor: (run: Run) => Controller;
}

/**
 * Starts a process: called when the function's process would start, and again after every kill. State in memory must be
 * created in here, or it would survive the kill.
 */
export type FunctionUnderTest = (
  world: FunctionEnvironment,
) => Controller | RunningFunction | Promise<Controller | RunningFunction>;

/** Starts a process. If `start` returns a controller, it is the only one. */
export async function startFunction(
  start: FunctionUnderTest,
  world: FunctionEnvironment,
): Promise<RunningFunction> {
  const begun = await start(world);
  return "controllers" in begun ? begun : { controllers: [begun] };
}
