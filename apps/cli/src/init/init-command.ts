import { pluralOf } from "@drover/controller";
import { Command } from "commander";
import { z } from "zod";
import { init, kindFor } from "./init.ts";

const optionsSchema = z.object({
  kind: z.string().optional(),
  plural: z.string().optional(),
  group: z.string(),
});

export const initCommand = (): Command =>
  new Command("init")
    .summary("make a new function")
    .description(
      "Make a new function in a folder of that name: a kind, its controller, a test, and how it is deployed.",
    )
    .argument("<name>", "name of the function, such as greetings")
    .option("--kind <Kind>", "kind of its objects; default: derived from its name")
    .option("--plural <plural>", "plural of the kind, as in `kubectl get`; default: derived from it")
    .option("--group <group>", "API group of the kind", "example.com")
    .allowExcessArguments(false)
    .action(async (name: string, options: unknown) => {
      const { group, kind = kindFor(name), plural = pluralOf(kind) } = optionsSchema.parse(options);
      const files = await init({ parent: process.cwd(), name, kind, plural, group });
      console.log(`A function for objects of the kind ${kind} (${plural}.${group}), in ${name}/:\n`);
      console.log(files.map((file) => `  ${file}`).join("\n"));
      console.log(`\nNext:\n\n  cd ${name}\n  npm install\n  npm test`);
    });
