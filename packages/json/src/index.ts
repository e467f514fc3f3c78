/**
 * # @drover/json
 *
 * Kubernetes has integers of 64 bits, and JavaScript's `JSON.parse` rounds those beyond 2^53. Everything that holds a value
 * of an object is therefore parsed and written here:
 *
 * - `exact-json.ts` parses an integer that a double cannot hold as a BigInt, and writes it as the number that it was.
 * - `exact-yaml.ts` makes the values of a YAML file the same.
 *
 * All other numbers are doubles, as in Go's `sigs.k8s.io/json`. A place that forgets this package and calls `JSON.stringify`
 * throws a TypeError; it does not round.
 */
export { exactInteger, IntegerTooLargeError, isInt64, parseJson, writeJson } from "./exact-json.ts";
export { exactYaml } from "./exact-yaml.ts";
