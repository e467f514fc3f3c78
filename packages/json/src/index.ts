/**
 * # @drover/json
 *
 * Kubernetes has integers of 64 bits, and JavaScript's `JSON.parse` rounds those beyond 2^53. So all JSON and YAML with
 * values of objects is parsed and written by this package:
 *
 * - `exact-json.ts` parses an integer that a double cannot hold as a BigInt, and writes it as the number that it was.
 * - `exact-yaml.ts` does the same for the values of a YAML file.
 * - `unless-too-deep.ts` handles values that are nested too deeply for `JSON.stringify`.
 *
 * All other numbers are doubles, as in Go's `sigs.k8s.io/json`. Code that calls `JSON.stringify` for a BigInt by
 * mistake throws a TypeError; it does not round.
 */
export { isInt64, parseJson, writeJson } from "./exact-json.ts";
export { canonicalJson } from "./canonical-json.ts";
export { exactYaml } from "./exact-yaml.ts";
export { unlessTooDeep } from "./unless-too-deep.ts";
