import { mutants } from "./mutant.ts";

export const mutantsOfScripts = mutants(
  "scripts",
  `
redis/lua/lua-script.ts

scripts-1: a script that is missing fails its call
- retryUntilLoaded(redis, wait, run);
+ run();

scripts-1: a replica that lacks scripts is waited for without end
- redis.disconnect(true);
+ return;

bullmq/bullmq-client.ts

scripts-1: BullMQ's scripts are sent with their text
-     runCommand: (name, args) => runBullmqScript(scripted, name, args),

redis/lua/keep-scripts-loaded.ts

scripts-2: scripts that were lost since are not loaded
- if (isReachable(node)) void keep(node);
+ if (!isReachable(node)) void keep(node);

scripts-2: a cluster's replicas are given none
- redis.nodes("all")
+ redis.nodes("master")

ledger/rules/order.lua

scripts-3: all flows are looked at in one call
-     flowsLeft = flowsLeft - 1

ledger/rules/entry.lua

scripts-3: all leases are shortened in one call
- '+inf', 'LIMIT', 0, maxMembersChecked
+ '+inf'

redis/lua/guard.lua

scripts-3: a list that is an argument may be as long as it likes
- if #list > (most or maxListItems) then
+ if #list > 1e9 then

bullmq/bullmq-scripts.ts

scripts-3: all stalled jobs are put back in one call
- \`rcall('SPOP', stalledKey, \${maxStalledJobs})\`
+ "rcall('SMEMBERS', stalledKey)"
`,
);
