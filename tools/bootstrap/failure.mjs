/** The reason that a task cannot be done, and what to do about it; there is nothing to add. */
export class Failure extends Error {}
