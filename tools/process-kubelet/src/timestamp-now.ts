/** This moment as timestamps of the API are: to the second. */
export const timestampNow = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
