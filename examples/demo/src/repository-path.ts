import { fileURLToPath } from "node:url";

/** The path of a file of this repository. */
export const repositoryPath = (path: string): string =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url));
