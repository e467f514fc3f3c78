import type { Log } from "@drover/controller";
import type { KubeClient, Reflector } from "@drover/kube";
import { type DeclaredFunction, followDeclaredFunctions } from "./declared-functions.ts";
import type { PartSettings } from "./part-settings.ts";
import { followPermits, type Permits } from "./permits.ts";

export interface PermittedFunctionsOptions extends Pick<PartSettings, "authors" | "namespace"> {
  readonly client: KubeClient;
  readonly log: Log;
  readonly signal: AbortSignal;
  /**
   * Called when all functions and permits are known, and with every change from then on.
   * @param permits undefined where every author is trusted.
   */
  readonly onChange: (functions: readonly DeclaredFunction[], permits: Permits | undefined) => void;
}

/** Follows the ReconcileFunctions of the cluster, and with authors `checked` their permits. */
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

/** Ready when both are; the first that is not says why. */
const bothReflectors = (functions: Reflector, permits: Reflector): Reflector => ({
  done: Promise.all([functions.done, permits.done]).then(() => undefined),
  status: () => (functions.status().synced ? permits.status() : functions.status()),
});

/** That functions are not all known yet, for readiness. */
export function notListed(functions: Reflector): string | undefined {
  const { synced, lastFailure } = functions.status();
  return synced
    ? undefined
    : `ReconcileFunctions and their permits are not listed yet: ${lastFailure?.message ?? "asked for"}`;
}
