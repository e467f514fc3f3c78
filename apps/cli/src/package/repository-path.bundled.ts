import { fileURLToPath } from "node:url";

/** Takes the place of `repository-path.ts` in the published package, which contains files of the repository in `files`. */
export const repositoryPath = (path: string): string =>
  fileURLToPath(new URL(`../files/${path}`, import.meta.url));

export const commandModule = fileURLToPath(new URL("command.js", import.meta.url));
