import type { Controller, DeployableFunction } from "@drover/controller";
import type { SelectedCluster } from "../cluster-options.ts";
import { withImageCalls } from "./image/with-image-calls.ts";
import { planObjects } from "./plan-objects.ts";
import type { PlanResult } from "./plan-output.ts";
import { plannedCalls, type PlannedCalls } from "./planned-calls.ts";
import { type ObjectSelection, type PlannedObject, plannedObjects } from "./planned-objects.ts";
import { printPlans } from "./print-plans.ts";

export interface RunPlanOptions extends SelectedCluster {
  /** The objects to plan. */
  readonly selection: ObjectSelection;
  /** Only objects of this namespace, if all are planned. */
  readonly onlyIn: string | undefined;
  /** The code: of a module, of a function that runs at a URL, or of an image. */
  readonly code:
    | { readonly loaded: DeployableFunction }
    | { readonly url: string; readonly secretFile: string | undefined }
    | { readonly image: string; readonly wait: number; readonly sendsSecrets: boolean };
  /** The folder with the ReconcileFunction of a function that is called. */
  readonly folder: string;
  readonly output: "text" | "json";
}

/** Plans objects, and prints the plans. @throws CommandError if they cannot be made. */
export async function runPlan(options: RunPlanOptions): Promise<PlanResult> {
  const { client, namespace, onlyIn, selection, code, folder, output } = options;
  const objectsOf = (controller: Controller): Promise<readonly PlannedObject[]> =>
    plannedObjects({ controller, client, namespace, onlyIn }, selection);
  const print = (
    of: { readonly controller: Controller; readonly called?: PlannedCalls["open"] },
    objects: readonly PlannedObject[],
    signal?: AbortSignal,
  ): Promise<PlanResult> =>
    printPlans(planObjects({ called: undefined, ...of, client }, objects, signal), {
      output,
      isSummarized: selection.all,
    });
  if ("image" in code)
    return withImageCalls(
      { folder, client, namespace, ...code },
      {
        prepare: objectsOf,
        use: ({ settings: controller, open: called }, objects, signal) =>
          print({ controller, called }, objects, signal),
      },
    );
  if ("loaded" in code) {
    const { controller } = code.loaded;
    return print({ controller }, await objectsOf(controller));
  }
  const { settings: controller, open: called } = await plannedCalls({ folder, client, namespace, ...code });
  return print({ controller, called }, await objectsOf(controller));
}
