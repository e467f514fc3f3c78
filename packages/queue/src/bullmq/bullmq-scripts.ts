import { addStandardJob } from "bullmq/dist/esm/scripts/addStandardJob-9.js";
import { extendLocks } from "bullmq/dist/esm/scripts/extendLocks-1.js";
import { getStateV2 } from "bullmq/dist/esm/scripts/getStateV2-8.js";
import { moveStalledJobsToWait } from "bullmq/dist/esm/scripts/moveStalledJobsToWait-9.js";
import { moveToActive } from "bullmq/dist/esm/scripts/moveToActive-11.js";
import { moveToFinished } from "bullmq/dist/esm/scripts/moveToFinished-14.js";
import { updateData } from "bullmq/dist/esm/scripts/updateData-1.js";
import { loadableScript } from "../redis/lua/lua-script.ts";
import type { LoadableScript } from "../redis/lua/run-script.ts";

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
 * chooses its keys and arguments. A guard before each script refuses arguments that Drover never uses, because some of
 * them make BullMQ's code run without end (`maxMetricsSize`), or longer the more data the caller has written
 * (`keepJobs`, stalled jobs).
 *
 * The texts are BullMQ's (MIT), except for the parts that `replaced` changes.
 */
export const bullmqScripts: ReadonlyMap<string, BullmqScript> = new Map([
  guarded(
    addStandardJob,
    3,
    `
local asked, wanted = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[3])
refuseUnless(type(asked) == 'table' and not (asked[5] or asked[6] or asked[7] or asked[8]), 'a parent or a repetition')
refuseUnless(type(wanted) == 'table', 'options')
if type(wanted.de) == 'table' then
  for option in pairs(wanted.de) do refuseUnless(option == 'id', 'a deduplication') end
end`,
  ),
  guarded(
    extendLocks,
    4,
    `
local asked = cmsgpack.unpack(ARGV[3])
refuseUnless(type(asked) == 'table' and #asked <= ${maxActiveJobs / 2}, 'as many locks')`,
  ),
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
    `
-- Jobs are disposable, and Drover's own lists are never that long.
if redis.call('LLEN', KEYS[3]) > ${maxActiveJobs} then redis.call('DEL', KEYS[1], KEYS[3]) end`,
  ),
  guarded(
    moveToActive,
    3,
    `
local asked = cmsgpack.unpack(ARGV[3])
refuseUnless(type(asked) == 'table' and asked.limiter == nil, 'a rate')`,
  ),
  guarded(
    moveToFinished,
    9,
    `
local asked = cmsgpack.unpack(ARGV[8])
refuseUnless(type(asked) == 'table' and type(asked.keepJobs) == 'table', 'options')
refuseUnless(asked.maxMetricsSize == nil or asked.maxMetricsSize == '', 'metrics')
refuseUnless(asked.limiter == nil, 'a rate')
local kept = asked.keepJobs
refuseUnless((kept.count == 0 or kept.count == ${maxFailedJobs}) and kept.age == nil, 'as many kept jobs')
-- Drover never keeps that many: another client has added them.
if redis.call('ZCARD', KEYS[11]) > ${2 * maxFailedJobs} then redis.call('ZREMRANGEBYRANK', KEYS[11], 0, ${-maxFailedJobs - 1}) end`,
  ),
  guarded(updateData, 1),
]);

function guarded(
  { name, content, keys }: { readonly name: string; readonly content: string; readonly keys: number },
  args: number,
  guard = "",
): [string, BullmqScript] {
  const text = `
local function refuseUnless(isRight, what)
  if not isRight then error({ err = 'ERR Drover does not ask BullMQ for ' .. what }) end
end
local bytes = 0
for _, each in ipairs(ARGV) do bytes = bytes + #each end
refuseUnless(#KEYS == ${keys} and #ARGV <= ${args} and bytes <= ${maxArgumentBytes}, 'so much')
do${guard}
end
${content}`;
  return [name, { ...loadableScript(text), keys }];
}

/** Replaces parts of a text. Throws if a part does not occur exactly once. */
function replaced(text: string, ...parts: readonly (readonly [string, string])[]): string {
  return parts.reduce((changed, [from, to]) => {
    if (changed.split(from).length !== 2) throw new Error(`BullMQ's script has changed: it lacks ${from}.`);
    return changed.replace(from, () => to);
  }, text);
}
