import { addStandardJob } from "bullmq/dist/esm/scripts/addStandardJob-9.js";
import { extendLocks } from "bullmq/dist/esm/scripts/extendLocks-1.js";
import { getStateV2 } from "bullmq/dist/esm/scripts/getStateV2-8.js";
import { moveStalledJobsToWait } from "bullmq/dist/esm/scripts/moveStalledJobsToWait-9.js";
import { moveToActive } from "bullmq/dist/esm/scripts/moveToActive-11.js";
import { moveToFinished } from "bullmq/dist/esm/scripts/moveToFinished-14.js";
import { updateData } from "bullmq/dist/esm/scripts/updateData-1.js";
import { luaFile } from "#lua-file";
import { luaAssembler, luaSources } from "../redis/lua/assemble-lua.ts";
import { loadableScript, type LoadableScript } from "../redis/lua/lua-script.ts";

/** How many failed jobs are kept for dashboards. */
export const maxFailedJobs = 1_000;
/** Limit for the total size of a script's arguments, in bytes. */
const maxArgumentBytes = 1_048_576;
/** Limits: jobs of one queue that workers hold at once, and jobs of dead workers that one call puts back. */
const maxActiveJobs = 20_000;
const maxStalledJobs = 1_000;

export interface BullmqScript extends LoadableScript {
  readonly keys: number;
}

/**
 * The scripts of BullMQ that Drover needs, by BullMQ's name for them, and no others: a user that may run a script
 * chooses its keys and arguments. A guard before each script (`guards/`) refuses arguments that Drover never uses, because some of
 * them make BullMQ's code run without end (`maxMetricsSize`), or longer the more data the caller has written
 * (`keepJobs`, stalled jobs).
 *
 * The texts are BullMQ's (MIT), except for the parts that `replaced` changes.
 */
export const bullmqScripts: ReadonlyMap<string, BullmqScript> = new Map([
  guarded(addStandardJob, 3, "addStandardJob"),
  guarded(extendLocks, 4, "extendLocks"),
  // Without the server's version BullMQ calls its older script, `getState`. This newer one does not read entire lists.
  guarded({ ...getStateV2, name: "getState" }, 1),
  guarded(
    {
      ...moveStalledJobsToWait,
      content: replaced(
        moveStalledJobsToWait.content,
        ["rcall('SMEMBERS', stalledKey)", `rcall('SPOP', stalledKey, ${maxStalledJobs})`],
        ["    rcall('DEL', stalledKey)\n", ""],
      ),
    },
    4,
    "moveStalledJobsToWait",
  ),
  guarded(moveToActive, 3, "moveToActive"),
  guarded(moveToFinished, 9, "moveToFinished"),
  guarded(updateData, 1),
]);

/** @param guard the file in `guards/` that limits the arguments. */
function guarded(
  { name, content, keys }: { readonly name: string; readonly content: string; readonly keys: number },
  mostArguments: number,
  guard = "arguments",
): [string, BullmqScript] {
  const constants = { numberOfKeys: keys, mostArguments, maxArgumentBytes, maxActiveJobs, maxFailedJobs };
  const text = [
    "do",
    luaAssembler(luaSources(luaFile, constants))(`bullmq/guards/${guard}`),
    "end",
    "-- luacheck: ignore",
    content,
  ].join("\n");
  return [name, { ...loadableScript(text), keys }];
}

/** Replaces parts of a text. Throws if a part does not occur exactly once. */
function replaced(text: string, ...parts: readonly (readonly [string, string])[]): string {
  return parts.reduce((changed, [from, to]) => {
    if (changed.split(from).length !== 2) throw new Error(`BullMQ's script has changed: it lacks ${from}.`);
    return changed.replace(from, () => to);
  }, text);
}
