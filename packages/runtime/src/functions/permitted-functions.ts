import type { Log } from "@drover/controller";
import type { KubeClient, Reflector } from "@drover/kube";
import { type DeclaredFunction, followDeclaredFunctions } from "./declared-functions.ts";
import type { PartSettings } from "../parts/part-settings.ts";
import { followPermits, type Permits } from "./permits.ts";

export interface PermittedFunctionsOptions extends Pick<PartSettings, "authors" | "namespace"> {
  readonly client: KubeClient;
  readonly log: Log;
  readonly signal: AbortSignal;
  /**
   * Called when all functions and permits are known, and with every change after that.
   * @param permits undefined if every author is trusted.
   */
  readonly onChange: (functions: readonly DeclaredFunction[], permits: Permits | undefined) => void;
}

/** Watches the ReconcileFunctions of the cluster, and with authors `checked` their permits. */
export function followPermittedFunctions(options: PermittedFunctionsOptions): Reflector {
  const { authors, onChange } = options;
  let declared: readonly DeclaredFunction[] | undefined;
  const update = (): void => {
    if (declared !== undefined && permits?.synced() !== false) onChange(declared, permits);
  };
  const permits = authors === "trusted" ? undefined : followPermits({ ...options, onChange: update });
  const reflector = followDeclaredFunctions({
    ...options,
    onChange(next) {
      declared = next;
      update();
    },
  });
  return permits === undefined ? reflector : bothReflectors(reflector, permits.reflector);
}

/** Synced when both are. Until then the status is that of the first one that is not. */
const bothReflectors = (functions: Reflector, permits: Reflector): Reflector => ({
  done: Promise.all([functions.done, permits.done]).then(() => undefined),
  status: () => (functions.status().synced ? permits.status() : functions.status()),
});

/** Readiness problem while functions and permits are not all listed; undefined after that. */
export function listingProblem(functions: Reflector): string | undefined {
  const { synced, lastFailure } = functions.status();
  return synced
    ? undefined
    : `ReconcileFunctions and their permits are not listed yet: ${lastFailure?.message ?? "waiting for the API server"}`;
}
