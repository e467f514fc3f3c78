import { Argument, Command } from "commander";
import { z } from "zod";
import { checkGenerated, generate } from "./generate.ts";
import { functionModule } from "./load-function.ts";

const optionsSchema = z.object({
  check: z.boolean().default(false),
  embedded: z.boolean().default(false),
});

export const generateCommand = (): Command =>
  new Command("generate")
    .summary("write CRD, ReconcileFunction and Dockerfile from a function's code")
    .description(
      "Write deploy/crd.yaml, deploy/function.yaml and Dockerfile from a function's code: its kind's schema, its pace,\n" +
        "and the least permissions that it runs with. Run it in the function's folder.",
    )
    .addArgument(new Argument("[module]", "exports the function by default").default(functionModule))
    .option(
      "--embedded",
      "for a function with a bridge in its process: deploy/embedded.yaml, for kubectl apply",
    )
    .option("--check", "write nothing; fail when a file is not as the code has it")
    .allowExcessArguments(false)
    .action(async (given: string, options: unknown) => {
      const { check, embedded } = optionsSchema.parse(options);
      const module = given === functionModule ? undefined : given;
      const files = await (check ? checkGenerated : generate)({ folder: process.cwd(), module, embedded });
      console.log(check || files.length === 0 ? "As the code has it." : `Written: ${files.join(", ")}`);
    });
