import { plain, readSettings, wholeNumber } from "@drover/runtime";
import { z } from "zod";

const sandboxSettings = z.object({
  sandboxHost: plain(z.string().default("127.0.0.1")),
  /** Names, with commas between them, under which clients reach it, beside its own address and `localhost`. */
  sandboxNames: plain(
    z
      .string()
      .regex(/^[a-z0-9.-]+(,[a-z0-9.-]+)*$/, {
        error: "give host names without ports, such as sandbox,api.local",
      })
      .transform((text) => text.split(","))
      .default([]),
  ),
  /**
   * The bearer token that clients must send. Left out: a random one, which is in the kubeconfig at `kubeconfigOut` and
   * nowhere else.
   */
  sandboxToken: z
    .string()
    .regex(/^[\w.~+/-]{32,}=*$/, { error: "give at least 32 letters and digits" })
    .optional(),
  /** 0 takes a free one. */
  sandboxPort: plain(wholeNumber({ least: 0, most: 65_535 }).default(0)),
  /** Where a kubeconfig for this server is written, with its token; left out: nowhere. */
  kubeconfigOut: plain(z.string().optional()),
  logLevel: plain(z.enum(["debug", "info", "warn", "error"]).default("info")),
});

export const sandboxConfig = () => readSettings(sandboxSettings, process.env);
