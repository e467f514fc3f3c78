/**
 * Milliseconds on the machine's monotonic clock. Every process of one machine reads the same clock, so that times taken
 * in a worker can be set beside times taken in the harness; wall clocks may jump and prove nothing.
 */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;
