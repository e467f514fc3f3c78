import type { WorkerRegistration } from "../../ledger/ledger.ts";
import { accountLimit, controllerLimit, setRates } from "./limits.ts";
import type { CallContext } from "./call-context.ts";

/**
 * Registers a worker process or, if it has no slots, removes it. The settings of the newest version among the
 * registered workers apply.
 */
export function registerWorker(context: CallContext, registration: WorkerRegistration): void {
  const { data, now } = context;
  const { worker, slots, version, lasts } = registration;
  if (slots === 0) data.workers.delete(worker);
  else data.workers.set(worker, { until: now + lasts, slots, version });
  for (const [name, { until }] of data.workers) if (until <= now) data.workers.delete(name);
  const registered = [...data.workers.values()];
  data.slots = registered.reduce((sum, each) => sum + each.slots, 0);
  data.newestVersion = Math.max(0, ...registered.map((each) => each.version));
  if (slots > 0 && version >= data.newestVersion) applySettings(context, registration);
}

function applySettings(context: CallContext, { backoff, runs, accounts }: WorkerRegistration): void {
  const { first, longest, attempts } = backoff;
  context.data.settings = { first, longest, attempts };
  const rates = new Map(Object.entries(accounts).map(([account, rate]) => [accountLimit(account), rate]));
  if (runs) rates.set(controllerLimit, runs);
  setRates(context, rates);
}
