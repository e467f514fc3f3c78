/** The files that `drover init` copies, relative to the repository. The published package contains them at the same paths. */

/** The template of a function in TypeScript. */
export const template = "apps/cli/src/init/template";

/** For each language of functions that are called over HTTP, its package, and its example with the kind of examples/website. */
export const calledSources = {
  python: { sdk: "sdk/python/drover", examples: ["examples/website", "examples/python/website"] },
  go: { sdk: "sdk/go/drover", examples: ["examples/website", "examples/go/website"] },
} as const;
