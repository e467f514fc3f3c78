import { readFileSync } from "node:fs";
import { bundle } from "../../../infra/bundle.ts";

const image = new URL("../../../infra/images/Dockerfile", import.meta.url);

/** Bundles the bridge, as for its image; the file that starts it. */
export const bundledBridge = async (): Promise<string> => (await bundle("bridge")).file;

/** How the image of a bundle starts it: what Node is told of its memory. */
export function asInImage(file: string): {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  const text = readFileSync(image, "utf8");
  const said = (pattern: RegExp): readonly string[] => {
    const found = pattern.exec(text)?.slice(1);
    if (found === undefined) throw new Error(`${image.pathname} has no ${pattern.source} any more.`);
    return found;
  };
  const env = ["NODE_OPTIONS", "MALLOC_ARENA_MAX"].map((name) => [
    name,
    ...said(new RegExp(`^ENV ${name}=(.+)$`, "m")),
  ]);
  return {
    args: [...said(/^ENTRYPOINT \["node", "(--.+)", "\/app\/main\.mjs"\]$/m), file],
    env: Object.fromEntries(env) as Record<string, string>,
  };
}
