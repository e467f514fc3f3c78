import { followSettings } from "@drover/bridge";
import { functionSettings } from "@drover/runtime";
import type { z } from "zod";

/**
 * The settings of a function with a bridge in its process: those of a function and of a bridge. The function has no
 * ReconcileFunction.
 */
export const embeddedSettings = functionSettings
  .omit({ function: true, planSecrets: true })
  .extend(followSettings.shape);
export type EmbeddedSettings = z.output<typeof embeddedSettings>;
