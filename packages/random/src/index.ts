/**
 * # @drover/random
 *
 * Pseudo-random numbers that are the same for the same seeds: tests, simulations, benchmarks and the fault proxy make
 * their schedules with them, so that a failure can be repeated from its seed.
 */
export { pseudoRandom, type PseudoRandom } from "./pseudo-random.ts";
