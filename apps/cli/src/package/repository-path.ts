import { fileURLToPath } from "node:url";

/**
 * The path of a file of this repository. In the published package `repository-path.bundled.ts` takes the place of this module:
 * see `imports` in package.json.
 */
export const repositoryPath = (path: string): string =>
  fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** The module that runs the `drover` command in a process of its own. */
export const commandModule = repositoryPath("apps/cli/bin/drover.mjs");
