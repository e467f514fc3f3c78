/**
 * The promises of every ledger, as tests: `ledgerContract(open)` in a test file of each implementation. That file tests
 * what only one implementation has (Redis keys, the patrol's repairs).
 */
import { describe } from "vitest";
import { copiesContract } from "./copies.contract.ts";
import { listsContract } from "./lists.contract.ts";
import { type LedgerUnderTest, ledgerUnderTest, type OpenLedger } from "./ledger-under-test.ts";
import { handingOverContract } from "./handing-over.contract.ts";
import { nextRunsContract } from "./next-runs.contract.ts";
import { offersContract } from "./offers.contract.ts";
import { orderContract } from "./order.contract.ts";
import { pausesContract } from "./pauses.contract.ts";
import { runsContract } from "./runs.contract.ts";
import { serversContract } from "./servers.contract.ts";

export function ledgerContract(open: OpenLedger): void {
  const contracts: Readonly<Record<string, (t: LedgerUnderTest) => void>> = {
    "one key": runsContract,
    "many keys": orderContract,
    "handing over": handingOverContract,
    offers: offersContract,
    copies: copiesContract,
    lists: listsContract,
    pauses: pausesContract,
    "one run after another": nextRunsContract,
    "another server": serversContract,
  };
  for (const [about, contract] of Object.entries(contracts)) {
    describe(about, () => contract(ledgerUnderTest(open)));
  }
}
