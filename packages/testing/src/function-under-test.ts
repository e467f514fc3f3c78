import type { Controller } from "@drover/controller";
import type { KubeClient } from "@drover/kube";

/** What a function stands on in a test, in place of what its process would open. */
export interface FunctionWorld {
  /** The API server, as the function reaches it: every fault is on that way. */
  readonly client: KubeClient;
  /** The URLs of the servers outside of the cluster, by the name that the test gave them; faults are on that way, too. */
  readonly outside: Readonly<Record<string, string>>;
  /** The test's clock. */
  readonly now: () => Date;
}

/** What one life of a process runs. */
export interface Living {
  readonly controllers: readonly Controller[];
  /** Gives back what the controllers stand on. */
  close?(): void | Promise<void>;
}

/**
 * Begins a life: called when the function's process would start, and again after every kill. What it keeps in memory
 * must be made in here, or it would survive what no process survives.
 */
export type FunctionUnderTest = (world: FunctionWorld) => Controller | Living | Promise<Controller | Living>;

/** Begins one: a controller that stands alone is all that it runs. */
export async function begin(start: FunctionUnderTest, world: FunctionWorld): Promise<Living> {
  const begun = await start(world);
  return "controllers" in begun ? begun : { controllers: [begun] };
}
