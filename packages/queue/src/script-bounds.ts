/**
 * Nothing ends a script that has written: Redis refuses SCRIPT KILL then, and is deaf to everybody until the script ends. And
 * whoever may run a script chooses its arguments, and has written the data that it reads. So every loop of a script ends after
 * a number of rounds that neither decides: one call makes at most some 30,000 commands, a few hundredths of a second.
 */

/** Bytes of a call's arguments, all together. */
export const argumentBytes = 4_194_304;
/** Bytes of an argument that is JSON. */
export const jsonBytes = 1_048_576;
/** Elements of a list that is an argument, unless a script says less. */
export const mostListed = 1_000;
/** Lanes that one call looks into for keys whose turn it is, and so the keys that it rings for. */
export const mostTurns = 500;
/** Offers that one call looks at. */
export const mostOffers = 500;
/** Lanes that one call lets go with their namespace: of its accounts, and of other namespaces that are paused. */
export const mostShut = 10_000;
/** Members of a set that one call looks at, where a later call goes on. */
export const mostMembers = 1_000;
/** News of a key that a run is given with its lists. */
export const mostNews = 2_000;
/** Redis keys that one call looks through: forty are ten milliseconds and more. */
export const namesPerScript = 40;
/** Fields of a hash that is read whole. What has more was written by somebody else. */
export const mostFields = 1_000;
/** Worker processes of one controller, and fields of its limits. */
export const mostWorkers = 10_000;
/** Bytes of the reasons that are kept with a key. */
export const reasonBytes = 16_384;
/** Bytes of an entry: an object's copy, a claim, and small things. */
export const entryBytes = 1_048_576;
/** Bytes of all entries that one call reads. */
export const entriesBytes = 67_108_864;
