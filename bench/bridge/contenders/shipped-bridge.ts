import { bundle } from "../../../infra/bundle.ts";

/** Bundles the bridge, as for its image; the file that starts it. */
export const bundledBridge = async (): Promise<string> => (await bundle("bridge")).file;
