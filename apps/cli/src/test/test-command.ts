import { Command } from "commander";
import { z } from "zod";
import { isWell, reportLines } from "./report-lines.ts";
import { loadScenarios } from "./load-scenarios.ts";

const optionsSchema = z.object({ faults: z.boolean().default(false), plan: z.string().optional() });

export const testCommand = (): Command =>
  new Command("test")
    .summary("live through a function's scenarios, with --faults through all that can go wrong")
    .description(
      "Live through the scenarios of *.faults.ts, on an API server and a queue in this process. With --faults every\n" +
        "plan is derived and lived through, too: crashes before and after every write, answers lost after the commit,\n" +
        "refusals, stale views, steps that nobody saw, objects taken away, other people's objects. A function that is\n" +
        "right comes to the same end. The exit code is 0 when all did.",
    )
    .argument("[modules...]", "export scenarios by default; left out: every *.faults.ts below this folder")
    .option("--faults", "and all that can go wrong")
    .option("--plan <words>", "only plans that have these words in them")
    .allowExcessArguments(false)
    .action(async (modules: readonly string[], given: unknown) => {
      const { faults, plan } = optionsSchema.parse(given);
      const { testFaults } = await import("@drover/testing");
      for (const scenario of await loadScenarios(process.cwd(), modules)) {
        const report = await testFaults(scenario, { only: plan, faults: faults || plan !== undefined });
        console.log(reportLines(report).join("\n"));
        if (!isWell(report)) process.exitCode = 1;
      }
    });
