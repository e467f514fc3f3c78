import { bullmqScripts } from "../../bullmq/bullmq-scripts.ts";
import type { LoadableScript } from "./run-script.ts";
import { claimScript } from "../../ledger/scripts/claim.ts";
import { registerWorkerScript } from "../../ledger/scripts/register-worker.ts";
import {
  countScript,
  inspectScript,
  listScript,
  timeScript,
  notRunSinceScript,
  firstIncarnationScript,
} from "../../ledger/scripts/inspect.ts";
import { advertiseScript } from "../../ledger/scripts/advertise.ts";
import { pauseScript } from "../../ledger/scripts/pause.ts";
import { storeMappedKeysScript } from "../../ledger/scripts/store-mapped-keys.ts";
import { renewScript } from "../../ledger/scripts/renew.ts";
import { discardScript, repairScript, repairSetsScript } from "../../ledger/scripts/repair.ts";
import { dispatchScript, dispatchAgainScript, unclaimedJobsScript } from "../../ledger/scripts/dispatch.ts";
import { settleScript } from "../../ledger/scripts/settle.ts";
import { wakeScript } from "../../ledger/scripts/wake.ts";

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
