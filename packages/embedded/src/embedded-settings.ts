import { followSettings } from "@drover/bridge";
import { functionSettings } from "@drover/runtime";
import type { z } from "zod";

/** The settings of every function that has a bridge in its process: a function's and a bridge's. */
export const embeddedSettings = functionSettings.extend(followSettings.shape);
export type EmbeddedSettings = z.output<typeof embeddedSettings>;
