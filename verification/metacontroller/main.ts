/**
 * The same parents with Metacontroller and with Drover's compose, and where their children differ.
 *
 * ```
 * npm run metacontroller -- --histories 300 --seed 1
 * npm run metacontroller -- --only 17                # one history again
 * npm run metacontroller -- --alone                  # only Drover, compared with what is declared
 * npm run metacontroller -- --hook                   # Drover calls the hook of Metacontroller, too
 * ```
 */
import { parseArgs } from "node:util";
import { installed } from "../../bench/peers/peers/metacontroller.ts";
import { wholeNumber } from "../harness/whole-number.ts";
import { openDrover, openDroverWithHook } from "./contestants/drover.ts";
import { openMetacontroller } from "./contestants/metacontroller.ts";
import { historyOf } from "./histories/generate.ts";
import { report, shownFailure } from "./report.ts";
import { runSuite } from "./suite.ts";

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
    "at-once": { type: "string", default: "8" },
    alone: { type: "boolean", default: false },
    hook: { type: "boolean", default: false },
  },
});
const first = wholeNumber("seed", values.only ?? values.seed);
const count = values.only === undefined ? wholeNumber("histories", values.histories, 1) : 1;
if (!values.alone) await installed();
const result = await runSuite({
  reference: values.alone ? undefined : openMetacontroller,
  subject: values.hook ? openDroverWithHook : openDrover,
  histories: Array.from({ length: count }, (_, i) => historyOf(first + i)),
  atOnce: wholeNumber("at-once", values["at-once"], 1),
  log: (line) => console.error(line),
  failed: (failure) => console.log(shownFailure(failure)),
});
console.log(report(result, first));
process.exitCode = result.failures === 0 ? 0 : 1;
