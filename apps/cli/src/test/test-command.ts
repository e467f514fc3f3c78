import { Command } from "commander";
import { z } from "zod";
import { loadScenarios } from "./load-scenarios.ts";

const optionsSchema = z.object({ faults: z.boolean().default(false), plan: z.string().optional() });

export const testCommand = (): Command =>
  new Command("test")
    .summary("run a function's scenarios, with --faults also with injected faults")
    .description(
      "Run the scenarios of *.faults.ts, on an API server and a queue in this process. With --faults, plans are derived\n" +
        "from each scenario and run, too: crashes before and after every write, answers lost after the commit, refusals,\n" +
        "stale views, missed steps, objects deleted by others, foreign objects in the way. A correct function reaches the\n" +
        "same final state each time. The exit code is 0 if all runs did.",
    )
    .argument(
      "[modules...]",
      "modules with scenarios as default export; default: every *.faults.ts below this folder",
    )
    .option("--faults", "also run them with injected faults")
    .option("--plan <words>", "only plans that contain these words")
    .allowExcessArguments(false)
    .action(async (modules: readonly string[], given: unknown) => {
      const { faults, plan } = optionsSchema.parse(given);
      const { reportFaults } = await import("@drover/testing");
      const scenarios = await loadScenarios(process.cwd(), modules);
      const options = { only: plan, faults: faults || plan !== undefined };
      const { different } = await reportFaults(scenarios, (text) => console.log(text), options);
      if (different > 0) process.exitCode = 1;
    });
