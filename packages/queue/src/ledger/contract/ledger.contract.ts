/**
 * The promises of every ledger, as tests: `ledgerContract(open)` in a test file of each implementation. That file tests
 * what only one implementation has (Redis keys, the scrubber's repairs).
 */
import { describe } from "vitest";
import { batchedWakesContract } from "./batched-wakes.contract.ts";
import { cachedObjectsContract } from "../../cache/cached-objects.contract.ts";
import { cachedListsContract } from "../../cache/cached-lists.contract.ts";
import { type LedgerUnderTest, ledgerUnderTest, type OpenLedger } from "./ledger-under-test.ts";
import { chainedRunsContract } from "./chained-runs.contract.ts";
import { nextRunsContract } from "./next-runs.contract.ts";
import { advertisedSlotsContract } from "./advertised-slots.contract.ts";
import { orderContract } from "./order.contract.ts";
import { pausesContract } from "./pauses.contract.ts";
import { runsContract } from "./runs.contract.ts";
import { serversContract } from "./servers.contract.ts";

export function ledgerContract(open: OpenLedger): void {
  const contracts: Readonly<Record<string, (t: LedgerUnderTest) => void>> = {
    "one key": runsContract,
    "many keys": orderContract,
    "handing over": chainedRunsContract,
    "advertised slots": advertisedSlotsContract,
    copies: cachedObjectsContract,
    lists: cachedListsContract,
    "wakes that wait": batchedWakesContract,
    pauses: pausesContract,
    "one run after another": nextRunsContract,
    "another server": serversContract,
  };
  for (const [about, contract] of Object.entries(contracts)) {
    describe(about, () => contract(ledgerUnderTest(open)));
  }
}
