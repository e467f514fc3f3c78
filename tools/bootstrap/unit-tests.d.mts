/** See `unit-tests.mjs`. */
export function unitTests(root: string): Promise<string[]>;
