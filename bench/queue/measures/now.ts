/** Milliseconds on the machine's monotonic clock: the same in every process. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;
