import { readSettings, wholeNumber } from "@drover/runtime";
import { z } from "zod";

const sandboxSettings = z.object({
  /** There is no authentication: whoever reaches the port may do everything. */
  sandboxHost: z.string().default("127.0.0.1"),
  /** 0 takes a free one. */
  sandboxPort: wholeNumber({ least: 0, most: 65_535 }).default(0),
  /** Where a kubeconfig for this server is written; left out: nowhere. */
  kubeconfigOut: z.string().optional(),
  logLevel: z.enum(["debug", "info", "warn", "error"]).default("info"),
});

export const sandboxConfig = () => readSettings(sandboxSettings, process.env);
