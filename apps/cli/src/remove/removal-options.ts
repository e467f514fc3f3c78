import { type Command, Option } from "commander";
import { z } from "zod";
import { droverNamespace } from "../cluster-options.ts";
import { waitOption } from "../waiting/wait-option.ts";
import type { RemoveOptions } from "./remove.ts";

/** The options that `drover remove` and `drover uninstall` share. */
export const removalOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--finalize",
        "first delete the objects with a function's finalizer; it undoes what it made for them",
      ).conflicts("release"),
    )
    .option("--release", "keep the objects and what a function made for them, and remove its finalizer")
    .option("--yes", "agree to the deletion of objects")
    .option("--without-deployer", "do what the deployer would do, which is gone for good; keys in Redis stay")
    .addOption(droverNamespace())
    .addOption(waitOption("how long the objects, and then a function, may take to go"));

export const removalOptionsSchema = z.object({
  finalize: z.boolean().default(false),
  release: z.boolean().default(false),
  yes: z.boolean().default(false),
  withoutDeployer: z.boolean().default(false),
  droverNamespace: z.string(),
  wait: z.number(),
});

export const removalOf = ({
  finalize,
  release,
  yes,
  withoutDeployer,
  droverNamespace: home,
  wait,
}: z.output<typeof removalOptionsSchema>): Omit<RemoveOptions, "key" | "kind"> => ({
  choice: finalize ? "finalize" : release ? "release" : undefined,
  isConfirmed: yes,
  wait,
  withoutDeployerIn: withoutDeployer ? home : undefined,
  print: (line) => console.log(line),
});
