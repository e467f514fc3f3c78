import { bullmqScripts } from "./bullmq-scripts.ts";
import type { LoadableScript } from "./run-script.ts";
import { claimScript } from "./scripts/claim.ts";
import { registerWorkerScript } from "./scripts/enlist.ts";
import {
  countScript,
  inspectScript,
  listScript,
  timeScript,
  notRunSinceScript,
  firstIncarnationScript,
} from "./scripts/inspect.ts";
import { advertiseScript } from "./scripts/offer.ts";
import { pauseScript } from "./scripts/pause.ts";
import { storeMappedKeysScript } from "./scripts/remember.ts";
import { renewScript } from "./scripts/renew.ts";
import { discardScript, repairScript, repairSetsScript } from "./scripts/repair.ts";
import { dispatchScript, dispatchAgainScript, unclaimedJobsScript } from "./scripts/ring.ts";
import { settleScript } from "./scripts/settle.ts";
import { wakeScript } from "./scripts/wake.ts";

/**
 * All scripts that are run by processes without the permission to load any: functions, gateways, operators. Scripts
 * that only bridges run are not included; a bridge sends them itself.
 */
export const loadedScripts: readonly LoadableScript[] = [
  ...[
    claimScript,
    countScript,
    discardScript,
    registerWorkerScript,
    inspectScript,
    listScript,
    timeScript,
    notRunSinceScript,
    advertiseScript,
    firstIncarnationScript,
    pauseScript,
    storeMappedKeysScript,
  ],
  ...[
    renewScript,
    repairScript,
    repairSetsScript,
    dispatchScript,
    dispatchAgainScript,
    settleScript,
    unclaimedJobsScript,
    wakeScript,
  ],
  ...bullmqScripts.values(),
];
