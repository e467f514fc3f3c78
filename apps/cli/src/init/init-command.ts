import { pluralOf } from "@drover/controller";
import { Command, Option } from "commander";
import { z } from "zod";
import { calledLanguages, testCommands } from "./called-scaffold.ts";
import { init, kindFor } from "./init.ts";

const languages = ["typescript", ...calledLanguages] as const;

const optionsSchema = z.object({
  kind: z.string().optional(),
  plural: z.string().optional(),
  group: z.string(),
  language: z.enum(languages),
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
    .addOption(
      new Option(
        "--language <language>",
        "language of the function; other than TypeScript, it is called over HTTP",
      )
        .choices(languages)
        .default("typescript"),
    )
    .allowExcessArguments(false)
    .action(async (name: string, options: unknown) => {
      const { language, group, kind = kindFor(name), plural = pluralOf(kind) } = optionsSchema.parse(options);
      const files = await init({ parent: process.cwd(), language, name, kind, plural, group });
      console.log(`A function for objects of the kind ${kind} (${plural}.${group}), in ${name}/:\n`);
      console.log(files.map((file) => `  ${file}`).join("\n"));
      const next = language === "typescript" ? "npm install\n  npm test" : testCommands[language].join(" ");
      console.log(`\nNext:\n\n  cd ${name}\n  ${next}`);
    });
