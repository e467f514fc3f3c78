import { followSettings } from "@drover/bridge";
import { functionSettings } from "@drover/runtime";
import type { z } from "zod";

/**
 * The settings of every function that has a bridge in its process: a function's and a bridge's. No ReconcileFunction
 * registers it.
 */
export const embeddedSettings = functionSettings.omit({ function: true }).extend(followSettings.shape);
export type EmbeddedSettings = z.output<typeof embeddedSettings>;
