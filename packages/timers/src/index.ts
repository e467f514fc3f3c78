export { type CancelTimer, every, pause, processTimers, type Timers } from "./timers.ts";
export { VirtualClock } from "./virtual-clock.ts";
