/** What the hostile function writes: where it stands in a key that is not its own, it has written there. */
export const hostileMark = "written-by-the-hostile-function";
