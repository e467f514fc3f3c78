import { bullmqScripts } from "./bullmq-scripts.ts";
import type { LoadableScript } from "./run-script.ts";
import { claim } from "./scripts/claim.ts";
import { enlist } from "./scripts/enlist.ts";
import { count, inspect, list, moment, notRunSince, origin } from "./scripts/inspect.ts";
import { offer } from "./scripts/offer.ts";
import { pause } from "./scripts/pause.ts";
import { remember } from "./scripts/remember.ts";
import { renew } from "./scripts/renew.ts";
import { discard, repair, repairSets } from "./scripts/repair.ts";
import { ring, ringAgain, unanswered } from "./scripts/ring.ts";
import { settle } from "./scripts/settle.ts";
import { wake } from "./scripts/wake.ts";

/**
 * All scripts that are run by processes without the permission to load any: functions, gateways, operators. Scripts
 * that only bridges run are not included; a bridge sends them itself.
 */
export const loadedScripts: readonly LoadableScript[] = [
  ...[claim, count, discard, enlist, inspect, list, moment, notRunSince, offer, origin, pause, remember],
  ...[renew, repair, repairSets, ring, ringAgain, settle, unanswered, wake],
  ...bullmqScripts.values(),
];
