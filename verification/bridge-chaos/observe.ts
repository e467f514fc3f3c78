import type { Milliseconds } from "@drover/controller";
import { join } from "node:path";
import { openEventLog } from "../harness/event-log.ts";
import { startChangeRecorder } from "./change-recorder.ts";
import type { DirectApi } from "./direct-api.ts";
import type { Observation } from "./oracle/facts.ts";
import { openOracle } from "./oracle/oracle.ts";
import { startReader } from "./reader.ts";
import type { Lane } from "./test-servers.ts";

/**
 * Records what happens in a lane: every change, and every run of a controller whose runs read their object.
 *
 * @param linger of a run after it has read.
 * @param folder holds the reader's log.
 */
export async function observe(
  api: DirectApi,
  { kind, redisUrl }: Lane,
  { linger, folder }: { readonly linger: Milliseconds; readonly folder: string },
) {
  const log = openEventLog<Observation>();
  const oracle = openOracle();
  log.follow((fact) => oracle.see(fact));
  const recorder = await startChangeRecorder(api, kind, log);
  const controller = `widgets.${kind.group}`;
  const logFile = join(folder, "reader.log");
  const reader = await startReader({ api, kind, log, redisUrl, controller, linger, logFile });
  return {
    log,
    oracle,
    controller,
    /** The present objects, as the recorder has them. */
    view: recorder.view,
    /** Rejects if the recorder could not go on; then nothing is proved. */
    async close(): Promise<void> {
      await reader.close();
      await recorder.close();
    },
  };
}
