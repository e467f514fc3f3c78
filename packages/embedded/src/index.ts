/**
 * # @drover/embedded
 *
 * A controller's function with a bridge in its process: nothing is to be deployed but this and a Redis. Several processes
 * share the work without a leader: each kind is followed by one of them, and every key is run by whoever has a free slot.
 *
 * It is the same bridge and the same function that are processes of their own elsewhere, and Redis between them holds what
 * it always holds; so any of the processes may be killed at any time.
 */
export { embeddedSettings, type EmbeddedSettings } from "./embedded-settings.ts";
export { runEmbedded } from "./run-embedded.ts";
