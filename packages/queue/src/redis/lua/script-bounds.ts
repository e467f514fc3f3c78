/**
 * Bounds of the scripts, so that one call makes at most about 30,000 commands, which takes a few hundredths of a
 * second.
 *
 * Nothing ends a script that has written: Redis refuses SCRIPT KILL then, and serves no other client until the script
 * ends. A client that may run scripts chooses their arguments, and may have written the data that they read. So the
 * number of rounds of every loop has a limit that depends on neither.
 */

/** Bytes of all arguments of a call. */
export const maxArgumentBytes = 4_194_304;
/** Bytes of one JSON argument. */
export const maxJsonBytes = 1_048_576;
/** Elements of a list argument, unless a script sets another limit. */
export const maxListItems = 1_000;
/** Flows that one call checks for the next keys, which also limits the keys that it dispatches. */
export const maxFlowsChecked = 500;
/** Advertised slots that one call checks. */
export const maxSlotsChecked = 500;
/**
 * Paused flows that one call checks when a namespace is resumed: those of its accounts, and of other paused namespaces.
 */
export const maxThrottledFlowsChecked = 10_000;
/** Members of a set that one call processes, if a later call continues. */
export const maxMembersChecked = 1_000;
/** Deltas of a key that a run receives with its lists. */
export const maxDeltas = 2_000;
/** Redis keys that one call checks: 40 take 10 ms and more. */
export const maxKeysPerRepair = 40;
/** Fields of a hash that is read completely. A hash with more was written by another client. */
export const maxHashFields = 1_000;
/** Worker processes of one controller; also fields of its limits. */
export const maxWorkers = 10_000;
/** Bytes of the reasons that are stored with a key. */
export const maxReasonBytes = 16_384;
/** Bytes of an entry: a cached object, a claim, and small fields. */
export const maxEntryBytes = 1_048_576;
/** Bytes of all entries that one call reads. */
export const maxEntriesBytes = 67_108_864;
