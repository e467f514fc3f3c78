import { bullmqScripts } from "../../bullmq/bullmq-scripts.ts";
import { ledgerScripts, storeMappedKeysScript } from "../../ledger/ledger-scripts.ts";
import type { LoadableScript } from "./lua-script.ts";

/**
 * All scripts that are run by processes without the permission to load any: functions, gateways, operators. Scripts
 * that only bridges run are not included; a bridge sends them itself.
 */
export const loadedScripts: readonly LoadableScript[] = [
  ...Object.values(ledgerScripts),
  storeMappedKeysScript,
  ...bullmqScripts.values(),
];
