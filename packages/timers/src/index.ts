export {
  type CancelTimer,
  isAborted,
  processTimers,
  raceAbort,
  repeatEvery,
  sleep,
  sleepUnlessAborted,
  type Timers,
  waitAtMost,
} from "./timers.ts";
export { VirtualTimers } from "./virtual-timers.ts";
