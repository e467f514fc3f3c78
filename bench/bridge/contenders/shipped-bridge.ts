import { readFileSync } from "node:fs";
import { bundle } from "../../../infra/bundle.ts";

const image = new URL("../../../infra/images/Dockerfile", import.meta.url);

/** Bundles the bridge, as for its image; the file that starts it. */
export const bundledBridge = async (): Promise<string> => (await bundle("bridge")).file;

/** How its image has Node keep its memory. */
export function imageMemory(): Readonly<Record<string, string>> {
  const text = readFileSync(image, "utf8");
  return Object.fromEntries(
    ["NODE_OPTIONS", "MALLOC_ARENA_MAX"].map((name) => {
      const value = new RegExp(`^ENV ${name}=(.+)$`, "m").exec(text)?.[1];
      if (value === undefined)
        throw new Error(`${image.pathname} sets no ${name} any more: measure without.`);
      return [name, value];
    }),
  );
}
