import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { printable } from "../printable-json.ts";
import { queueNotFoundMessage, requireRedisUrl, redisOption, withRedis } from "../redis-option.ts";
import { keyStates } from "./key-state.ts";
import { operatorNeeds } from "./operator-needs.ts";
import { outputOption } from "../output-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  allNamespaces: z.boolean().default(false),
  redis: z.string().optional(),
  state: z.enum(keyStates).optional(),
  reason: z.string().optional(),
  in: z.string().optional(),
  limit: z.number().optional(),
  output: z.enum(["table", "json"]),
});

export const listCommand = (): Command =>
  withClusterOptions(new Command("list"))
    .summary("the objects of functions that run, are due, wait, are paused, are parked, fail")
    .description(
      "The objects that a function's queue holds: those that run, are due, wait, are paused, are parked or fail. " +
        "An object that is done, and waits for nothing, is not listed: use drover why for it.\n\n" +
        operatorNeeds,
    )
    .argument("[function]", "name, namespace/name, or its kind; default: all of the namespace")
    .option("-A, --all-namespaces", "the functions of all namespaces")
    .addOption(new Option("--state <state>", "only those in this state").choices(keyStates))
    .option("--reason <text>", "only those whose REASON or ERROR contains this")
    .option("--in <namespace>", "only objects in this namespace")
    .addOption(new Option("--limit <count>", "list at most this many").argParser(wholeNumber))
    .addOption(redisOption())
    .addOption(outputOption("table"))
    .allowExcessArguments(false)
    .action(async (word: string | undefined, given: unknown) => {
      const {
        redis,
        output,
        kubeconfig,
        context,
        namespace,
        limit = Infinity,
        ...asked
      } = optionsSchema.parse(given);
      const url = requireRedisUrl(redis);
      const [{ keyJson, keyTable }, { listKeys }] = await Promise.all([
        import("./key-writer.ts"),
        import("./list-keys.ts"),
      ]);
      const writer = output === "json" ? keyJson(printable) : keyTable();
      endWithReader();
      const { keys, absent } = await withCluster({ kubeconfig, context, namespace }, (cluster) =>
        withRedis(url, (connection) =>
          listKeys(
            cluster,
            connection,
            { ...asked, state: asked.state, namespace: asked.in, function: word, limit },
            (listed) => print(writer.page(listed)),
          ),
        ),
      );
      await print(writer.end());
      if (absent.length > 0) console.error(queueNotFoundMessage(absent));
      if (keys === 0) console.error(nothing(asked));
    });

/** Resolves when stdout has taken the lines, so that with a slow reader only one page is in memory. */
function print(lines: readonly string[]): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join("");
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Ends quietly when a reader such as `head` closes the pipe. */
function endWithReader(): void {
  process.stdout.prependListener("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
}

const nothing = ({ state, reason }: Pick<z.output<typeof optionsSchema>, "state" | "reason">): string =>
  [
    state === undefined ? "No object is due, runs, waits or is parked" : `No object is ${state}`,
    reason === undefined ? "." : ` for a reason with ${JSON.stringify(reason)}.`,
  ].join("");

function wholeNumber(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError("Give a whole number from 1 on.");
}
