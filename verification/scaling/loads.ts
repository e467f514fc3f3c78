import { defineController, defineResource } from "@drover/controller";
import { functionSettings, readSettings, runFunction } from "@drover/runtime";
import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { now } from "../harness/clock.ts";

/** The load of functions: each run waits 50 ms for something outside. */
export const Load = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Load",
  scope: "Namespaced",
  spec: z.object({ n: z.int() }),
  status: z.object({ seen: z.int() }),
});

/** A line of the log that all processes of all functions write. */
const journalLine = z.object({
  /** {@link now}, which all processes of the machine share. */
  at: z.number(),
  what: z.enum(["begins", "ends"]),
  /** The Pod. */
  by: z.string(),
  key: z.string(),
  n: z.int(),
});
export type JournalLine = z.output<typeof journalLine>;

/** The lines of that log, in the order in which they were written. */
export async function journalOf({ log }: { readonly log: string }): Promise<readonly JournalLine[]> {
  const text = await readFile(log, "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => journalLine.parse(JSON.parse(line)));
}

/** One of many functions of one kind, each for the objects of its own namespace. */
export const loadController = (name: string, log = "", by = "") =>
  defineController({
    for: Load,
    name,
    only: { namespaces: [name] },
    concurrency: 4,
    retry: { first: "100ms" },
    async reconcile({ key, spec: { n }, signal }) {
      const note = (what: JournalLine["what"]): void => {
        const line: JournalLine = { at: now(), what, by, key, n };
        appendFileSync(log, `${JSON.stringify(line)}\n`);
      };
      note("begins");
      await delay(50, undefined, { signal });
      note("ends");
      return { status: { seen: n } };
    },
  });

if (import.meta.main) {
  const settings = functionSettings.extend({ log: z.string(), by: z.string(), load: z.string() });
  await runFunction({
    name: "load",
    settings: () => readSettings(settings, process.env),
    controller: ({ log, by, load: name }) => ({ controller: loadController(name, log, by) }),
  });
}
