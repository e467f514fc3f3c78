// Replacements for two controllers of kube-controller-manager.
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
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

/** What kube-controller-manager runs beside one that takes the place of both controllers. */
export const butBoth: readonly string[] = ["*", "-deployment-controller", "-replicaset-controller"];

/** Does nothing at all: it must be found to differ. */
export const none: Subject = {
  name: "none",
  controllers: butBoth,
  start: () => Promise.resolve(nothing),
};

const moduleSchema = z.looseObject({
  start: z.custom<Subject["start"]>(
    (value) => typeof value === "function",
    "It exports no function `start`.",
  ),
  controllers: z.array(z.string()).optional(),
});

/** The subject that a module exports: `start`, and `controllers` where it takes the place of other controllers than both. */
export async function subjectOf(file: string): Promise<Subject> {
  const { start, controllers = butBoth } = moduleSchema.parse(await import(pathToFileURL(file).href));
  return { name: basename(file, ".ts"), controllers, start };
}
