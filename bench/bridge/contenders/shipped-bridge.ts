import { readFileSync } from "node:fs";
import { bundle } from "../../../infra/bundle.ts";

const image = new URL("../../../infra/images/Dockerfile", import.meta.url);

/** Bundles the bridge, as for its image; the file that starts it. */
export const bundledBridge = async (): Promise<string> => (await bundle("bridge")).file;

/** What its image tells Node. */
export function imageNodeOptions(): string {
  const options = /^ENV NODE_OPTIONS=(.+)$/m.exec(readFileSync(image, "utf8"))?.[1];
  if (options === undefined)
    throw new Error(`${image.pathname} sets no NODE_OPTIONS any more: measure without.`);
  return options;
}
