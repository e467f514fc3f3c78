import {
  defineController,
  type FunctionDeployment,
  reconcileFunctionOf,
  TerminalError,
} from "@drover/controller";
import { functionSettings, readSettings, runFunction } from "@drover/runtime";
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { exampleKind } from "../../harness/example-kind.ts";
import { inDefault, object } from "../../harness/manifests.ts";

/** Something that takes its time. */
export const Task = exampleKind("Task", { spec: { ms: z.int() }, status: { by: z.string() } });

/** A file: while it is there, no run with this journal ends. */
export const holdOf = (journal: string): string => `${journal}.hold`;

/** @param journal a file: a line for each run that begins or ends, of every process that runs them. */
export const taskController = (journal: string, by: string) =>
  defineController({
    for: Task,
    name: "tasks",
    concurrency: 2,
    retry: { first: "100ms" },
    async reconcile({ key, spec, signal }) {
      // A bug that the next version has no more.
      if (spec.ms < 0 && by === "tasks:1") throw new TerminalError("It is over before it began.");
      appendFileSync(journal, `${by} begins ${key}\n`);
      await delay(Math.abs(spec.ms), undefined, { signal });
      while (existsSync(holdOf(journal))) await delay(20, undefined, { signal });
      appendFileSync(journal, `${by} ends ${key}\n`);
      return { status: { by } };
    },
    finalize({ key }) {
      appendFileSync(journal, `${by} finalizes ${key}\n`);
      return Promise.resolve();
    },
  });

/** The ReconcileFunction of tasks, which writes its journal into a file. */
export const tasksFunction = (
  container: { readonly image: string; readonly journal: string; readonly by?: string },
  more: FunctionDeployment = {},
) => {
  const { image, journal, by = "one" } = container;
  const env = [
    { name: "DROVER_JOURNAL", value: journal },
    { name: "DROVER_BY", value: by },
  ];
  return inDefault(reconcileFunctionOf(taskController("", ""), { container: { image, env }, ...more }));
};

/** The command of a Pod that runs them. */
export const tasksCommand = [process.execPath, import.meta.filename];

export const task = (name: string, ms: number) => object(Task, name, { ms });

if (import.meta.main) {
  const settings = functionSettings.extend({ journal: z.string(), by: z.string() });
  await runFunction({
    name: "tasks",
    settings: () => readSettings(settings, process.env),
    controller: ({ journal, by }) => ({ controller: taskController(journal, by) }),
  });
}
