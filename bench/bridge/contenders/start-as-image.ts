import { readFileSync } from "node:fs";
import { type Started, startProcess } from "./start-process.ts";

const image = new URL("../../../infra/images/Dockerfile", import.meta.url);

export interface BundleProcess {
  readonly name: string;
  /** The bundle's file. */
  readonly main: string;
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts a bundle as its image does, with the same memory options for Node. */
export function startAsImage({ name, main, logFile, env }: BundleProcess): Promise<Started> {
  const text = readFileSync(image, "utf8");
  const valueOf = (pattern: RegExp): string => {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) throw new Error(`${image.pathname} has no ${pattern.source} any more.`);
    return found;
  };
  const flags = valueOf(/^ENTRYPOINT \["node", "(--.+)", "\/app\/main\.mjs"\]$/m).split('", "');
  return startProcess({
    name,
    command: process.execPath,
    args: [...flags, main],
    logFile,
    env: {
      NODE_OPTIONS: valueOf(/^ENV NODE_OPTIONS=(.+)$/m),
      MALLOC_ARENA_MAX: valueOf(/^ENV MALLOC_ARENA_MAX=(.+)$/m),
      ...env,
    },
  });
}
