import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** How busy the machine's cores are, in [0, 1], over the next second. */
export async function machineLoad(): Promise<number> {
  const before = times();
  await delay(1_000);
  const after = times();
  return (after.busy - before.busy) / (after.all - before.all);
}

function times(): { busy: number; all: number } {
  const sums = cpus().map(({ times: { user, nice, sys, irq, idle } }) => ({
    busy: user + nice + sys + irq,
    all: user + nice + sys + irq + idle,
  }));
  return sums.reduce((a, b) => ({ busy: a.busy + b.busy, all: a.all + b.all }));
}
