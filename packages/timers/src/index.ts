export { type CancelTimer, repeatEvery, sleep, processTimers, type Timers } from "./timers.ts";
export { VirtualTimers } from "./virtual-timers.ts";
