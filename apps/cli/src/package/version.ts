import manifest from "drover/package.json" with { type: "json" };

/** The version of the published package. */
export const { version } = manifest;
