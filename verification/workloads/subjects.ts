// Replacements for controllers of kube-controller-manager.
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { Family } from "./family.ts";
import { startFunctions, type StartOptions } from "./our-functions.ts";
import type { Administered } from "./sequences/accounts.ts";

export interface Running {
  stop(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  /** Which controllers kube-controller-manager runs beside it. */
  readonly controllers: readonly string[];
  /** Starts what reconciles a cluster. */
  start(cluster: Administered): Promise<Running>;
}

const nothing: Running = { stop: () => Promise.resolve() };

/** What all others are measured by; and, as its own subject, what measures the measuring. */
export const reference: Subject = {
  name: "kube-controller-manager",
  controllers: ["*"],
  start: () => Promise.resolve(nothing),
};

/** The controllers of kube-controller-manager beside a subject that replaces those of Deployments and ReplicaSets. */
export const butBoth: readonly string[] = ["*", "-deployment-controller", "-replicaset-controller"];

/** Does nothing at all: it must be found to differ. */
export const none = ({ controllers }: Pick<Family, "controllers">): Subject => ({
  name: "none",
  controllers,
  start: () => Promise.resolve(nothing),
});

const moduleSchema = z.looseObject({
  start: z.custom<(cluster: Administered, options?: StartOptions) => Promise<Running>>(
    (value) => typeof value === "function",
    "It exports no function `start`.",
  ),
  controllers: z.array(z.string()).optional(),
});

/** Our functions; or the subject that a module exports: `start`, and `controllers` if it does not replace all those of the family. */
export async function subjectOf(
  family: Pick<Family, "controllers" | "functions" | "settings">,
  file?: string,
  options: StartOptions = {},
): Promise<Subject> {
  if (file === undefined) {
    const start = (cluster: Administered): Promise<Running> => startFunctions(cluster, [family], options);
    return { name: "our functions", controllers: family.controllers, start };
  }
  const { start, controllers = family.controllers } = moduleSchema.parse(
    await import(pathToFileURL(file).href),
  );
  return { name: basename(file, ".ts"), controllers, start: (cluster) => start(cluster, options) };
}
