/**
 * Milliseconds on the machine's monotonic clock. Every process of one machine reads the same clock, so that times of
 * several processes can be compared; wall clocks may jump.
 */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;
