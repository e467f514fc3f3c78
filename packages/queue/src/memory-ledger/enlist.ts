import type { Enlistment } from "../ledger.ts";
import { accountLimit, controllerLimit, setRates } from "./limits.ts";
import type { Moment } from "./moment.ts";

/**
 * Registers a worker process or, if it has no slots, removes it. The settings of the newest version among the
 * registered workers apply.
 */
export function enlist(moment: Moment, enlistment: Enlistment): void {
  const { data, now } = moment;
  const { worker, slots, version, lasts } = enlistment;
  if (slots === 0) data.workers.delete(worker);
  else data.workers.set(worker, { until: now + lasts, slots, version });
  for (const [name, { until }] of data.workers) if (until <= now) data.workers.delete(name);
  const here = [...data.workers.values()];
  data.slots = here.reduce((sum, each) => sum + each.slots, 0);
  data.newest = Math.max(0, ...here.map((each) => each.version));
  if (slots > 0 && version >= data.newest) configure(moment, enlistment);
}

function configure(moment: Moment, { backoff, runs, accounts }: Enlistment): void {
  const { first, longest, attempts } = backoff;
  moment.data.settings = { first, longest, attempts };
  const rates = new Map(Object.entries(accounts).map(([account, rate]) => [accountLimit(account), rate]));
  if (runs) rates.set(controllerLimit, runs);
  setRates(moment, rates);
}
