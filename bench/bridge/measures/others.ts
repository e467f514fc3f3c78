import { cpus } from "node:os";
import { now } from "../../../verification/harness/clock.ts";

/** How much of the machine others took since the start, in [0, 1], given the CPU time of all that is ours, s. */
export function watchOthers(): (ours: number) => number {
  const [began, busyBefore, hereBefore] = [now(), busy(), here()];
  return (ours) => {
    const theirs = busy() - busyBefore - (here() - hereBefore) - ours;
    return Math.max(0, theirs / (cpus().length * ((now() - began) / 1_000)));
  };
}

/** This process's own. */
function here(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** All cores together since the machine was started, s. */
const busy = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) / 1_000, 0);
