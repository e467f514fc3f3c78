import { defineController } from "@drover/controller";
import { deploy } from "./deploy.ts";
import { followed } from "./followed.ts";
import type { FunctionContext } from "./function-objects.ts";
import { homeOf } from "./home.ts";
import type { FunctionControllerParts, Step } from "./step.ts";
import { takeDown } from "./take-down.ts";

/** Deploys functions. */
export const functionController = (parts: FunctionControllerParts) => {
  const swept = new Map<string, number>();
  return defineController({
    ...followed,
    reconcile: (context) => deploy(stepOf(parts, context, swept)),
    finalize: (context) => takeDown(stepOf(parts, context, swept)),
  });
};

const stepOf = (parts: FunctionControllerParts, context: FunctionContext, swept: Step["swept"]): Step => ({
  now: () => new Date(),
  ...parts,
  context,
  swept,
  home: homeOf(context),
  client: parts.client.guarded(context.guard),
});
