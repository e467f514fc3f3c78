import { nonSecret, readSettings, wholeNumber } from "@drover/runtime";
import { z } from "zod";

const sandboxSettings = z.object({
  sandboxHost: nonSecret(z.string().default("127.0.0.1")),
  /** Comma-separated host names under which clients reach it, in addition to its own address and `localhost`. */
  sandboxNames: nonSecret(
    z
      .string()
      .regex(/^[a-z0-9.-]+(,[a-z0-9.-]+)*$/, {
        error: "give host names without ports, such as sandbox,api.local",
      })
      .transform((text) => text.split(","))
      .default([]),
  ),
  /**
   * The bearer token that clients must send. Default: a random one, written only to the kubeconfig at `kubeconfigOut`.
   */
  sandboxToken: z
    .string()
    .regex(/^[\w.~+/-]{32,}=*$/, { error: "give at least 32 letters and digits" })
    .optional(),
  /** 0 takes a free port. */
  sandboxPort: nonSecret(wholeNumber({ least: 0, most: 65_535 }).default(0)),
  /** Path of a kubeconfig to write for this server, with its token. Default: none is written. */
  kubeconfigOut: nonSecret(z.string().optional()),
  logLevel: nonSecret(z.enum(["debug", "info", "warn", "error"]).default("info")),
});

export const sandboxConfig = () => readSettings(sandboxSettings, process.env);
