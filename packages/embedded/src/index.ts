/**
 * # @drover/embedded
 *
 * A controller's function with a bridge in its process: it needs Redis, and nothing else of Drover. Several processes
 * share the work without a leader: one of them watches a kind, and a process with a free slot runs a key.
 *
 * The bridge and the function are the same as in separate processes, and their state is in Redis, as always. So any of
 * the processes may be killed at any time.
 */
export { embeddedSettings } from "./embedded-settings.ts";
export { runEmbedded } from "./run-embedded.ts";
