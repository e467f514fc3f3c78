import { Command } from "commander";
import { z } from "zod";

const optionsSchema = z.object({
  faults: z.boolean().default(false),
  plan: z.string().optional(),
  run: z.string().optional(),
  url: z.string().optional(),
  secretFile: z.string().optional(),
  dir: z.string(),
});

export const testCommand = (): Command =>
  new Command("test")
    .summary("run a function's scenarios, with --faults also with injected faults")
    .description(
      "Run the scenarios of *.faults.ts and *.faults.yaml, on an API server and a queue in this process. With --faults, " +
        "plans are derived from each scenario and run, too: crashes before and after every write, answers lost after the " +
        "commit, refusals, stale views, missed steps, objects deleted by others, foreign objects in the way. A correct " +
        "function reaches the same final state each time. The exit code is 0 if all runs did.\n\n" +
        "Scenarios in YAML are for a function that is called over HTTP: give --run or --url.",
    )
    .argument(
      "[files...]",
      "modules with scenarios as default export, and scenarios in YAML; default: every *.faults.ts and *.faults.yaml below " +
        "this folder",
    )
    .option("--faults", "also run them with injected faults")
    .option("--plan <words>", "only plans that contain these words")
    .option(
      "--run <command>",
      'the command line that runs the function, such as "python3 function.py"; crashes kill it, too',
    )
    .option("--url <url>", "instead of --run: where the function runs, such as http://localhost:8080/")
    .option("--secret-file <file>", "with --url: the file with the secret that it verifies")
    .option(
      "--dir <folder>",
      "the folder with the ReconcileFunction and the CRD of scenarios in YAML",
      "deploy",
    )
    .allowExcessArguments(false)
    .action(async (named: readonly string[], given: unknown) => {
      const { faults, plan, ...called } = optionsSchema.parse(given);
      const [{ reportFaults }, { findScenarios, loadScenarios }, { openCalledScenarios }] = await Promise.all(
        [import("@drover/testing"), import("./load-scenarios.ts"), import("./called-scenarios.ts")],
      );
      const folder = process.cwd();
      const { modules, written } = findScenarios(folder, named);
      const loaded = await loadScenarios(folder, modules);
      const opened = written.length > 0 ? await openCalledScenarios(folder, written, called) : undefined;
      const scenarios = [...loaded, ...(opened?.scenarios ?? [])];
      const options = { only: plan, faults: faults || plan !== undefined };
      try {
        const { different } = await reportFaults(scenarios, (text) => console.log(text), options);
        if (different > 0) process.exitCode = 1;
      } finally {
        opened?.close();
      }
    });
