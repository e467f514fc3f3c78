import { Argument, Command, Option } from "commander";
import { z } from "zod";
import { checkGenerated, generate } from "./generate.ts";
import { functionModule } from "./load-function.ts";

const optionsSchema = z.object({
  check: z.boolean().default(false),
  embedded: z.boolean().default(false),
  out: z.string().optional(),
});

export const generateCommand = (): Command =>
  new Command("generate")
    .summary("write CRD, ReconcileFunction and Dockerfile from a function's code")
    .description(
      "Write deploy/crd.yaml, deploy/function.yaml and Dockerfile from a function's code: its kind's schema, its " +
        "settings, and the least permissions that it needs. Run it in the function's folder.",
    )
    .addArgument(
      new Argument("[module]", "module with the function as its default export").default(functionModule),
    )
    .option(
      "--embedded",
      "for a function with a bridge in its process: deploy/embedded.yaml, for kubectl apply",
    )
    .addOption(
      new Option("--out <folder>", "write them in this folder; default: the function's folder").conflicts(
        "check",
      ),
    )
    .option("--check", "write nothing; fail if a file is out of date")
    .allowExcessArguments(false)
    .action(async (given: string, options: unknown) => {
      const { check, embedded, out } = optionsSchema.parse(options);
      const module = given === functionModule ? undefined : given;
      const asked = { folder: process.cwd(), module, embedded, out };
      const files = await (check ? checkGenerated : generate)(asked);
      console.log(check || files.length === 0 ? "Up to date." : `Written: ${files.join(", ")}`);
    });
