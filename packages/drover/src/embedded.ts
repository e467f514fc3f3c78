/** A function with a bridge in its process. */
export { embeddedSettings, runEmbedded } from "@drover/embedded";
