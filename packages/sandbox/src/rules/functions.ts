// The functions of rules besides those of the library: Kubernetes' extensions (k8s.io/apiserver/pkg/cel/library; cel-go,
// ext), optionals, and functions that Kubernetes reads in another way than the library.
import {
  CelScalar,
  celFunc,
  celList,
  celMethod,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
} from "@bufbuild/cel";
import { listType } from "@bufbuild/cel";
import type { CelFunc, CelInput, CelList, CelType, CelValue } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { requestUri } from "../schema/request-uri.ts";
import { patternOf } from "../schema/pattern.ts";
import { addedLists, callStandard, equalValues } from "./values.ts";

/** Functions and macros of Kubernetes' CEL that the sandbox lacks. docs/testing.md lists them, too. */
export const missingFunctions: ReadonlySet<string> = new Set([
  ...["transformList", "transformMap", "transformMapEntry", "optMap", "optFlatMap"],
  ...["slice", "flatten", "sort", "sortBy", "reverse", "distinct", "lists.range"],
  ...["url", "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery"],
  ...["ip", "isIP", "ip.isCanonical", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"],
  ...["isLinkLocalUnicast", "isGlobalUnicast", "cidr", "isCIDR", "containsIP", "containsCIDR", "masked"],
  ...["prefixLength", "format.named", "validate", "semver", "isSemver", "major", "minor", "patch"],
  ...["isQuantity", "quantity", "sign", "isInteger", "asInteger", "asApproximateFloat", "isGreaterThan"],
  ...["isLessThan", "compareTo", "add", "sub", "getMilliseconds"],
]);

type Value = CelValue | undefined;
type Run = (a: Value, b: Value, c: Value, d: Value) => CelInput | undefined;

const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
const types: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...Object.entries({ bool: BOOL, double: DOUBLE, int: INT, string: STRING, uint: UINT }),
  ["list", listType(DYN)],
  ["optional", listType(DYN)],
]);
const typesOf = (names: string): CelType[] => (names.match(/\w+/g) ?? []).map((one) => types.get(one) ?? DYN);
const result = (value: CelInput | undefined): CelInput => value ?? fail("no such overload");

/** A function with arguments of these types; those without a name in the table are of any type. */
const func = (name: string, args: string, run: Run): CelFunc =>
  celFunc(name, typesOf(args), DYN, (a: Value, b: Value) => result(run(a, b, undefined, undefined)));
/** A method. The first type is that of its target. */
function method(name: string, args: string, run: Run): CelFunc {
  const [target = DYN, ...others] = typesOf(args);
  return celMethod(name, target, others, DYN, function (this: CelValue, a: Value, b: Value, c: Value) {
    return result(run(this, a, b, c));
  });
}

const items = (value: Value): readonly CelValue[] => (isCelList(value) ? [...value] : []);
const text = (value: Value): string => (typeof value === "string" ? value : "");
const fail = (why: string): never => {
  throw new Error(why);
};

const optionals = new WeakSet<object>();
/** An optional, which is a list of one value or none. */
export function optionalOf(value?: CelInput): CelList {
  const made = celList(value === undefined ? [] : [value]);
  optionals.add(made);
  return made;
}
/** The part of a map, of a list, or of the value of an optional. */
function partOf(from: Value, key: Value): CelList {
  if (isCelList(from) && optionals.has(from)) return from.size === 0 ? from : partOf(from.get(0), key);
  if (isCelList(from)) return optionalOf(typeof key === "bigint" ? from.get(Number(key)) : undefined);
  return optionalOf(isCelMap(from) && typeof key === "string" ? from.get(key) : undefined);
}
const isZero = (value: Value): boolean =>
  isCelList(value) || isCelMap(value)
    ? value.size === 0
    : [null, false, "", 0, 0n].some((zero) => zero === value);

function found(value: Value, pattern: Value, most: Value = -1n): string[] {
  const matcher = patternOf(text(pattern)).matcher(text(value));
  const all: string[] = [];
  while (BigInt(all.length) !== most && matcher.find()) all.push(matcher.group() ?? "");
  return all;
}
/** The library does not end if the text to replace is empty. */
function replaced(value: Value, from: Value, to: Value, most: Value = -1n): string {
  let left = Number(most);
  return text(value).replaceAll(text(from), (one) => (left-- === 0 ? (left++, one) : text(to)));
}
/** The parts of a text, of which an empty separator makes its characters. */
function parts(value: Value, separator: Value, most: Value = -1n): string[] {
  const by = text(separator);
  const all = by === "" ? Array.from(text(value)) : text(value).split(by);
  const count = Number(most);
  if (count < 0 || all.length <= count) return all;
  return count === 0 ? [] : [...all.slice(0, count - 1), all.slice(count - 1).join(by)];
}
const has = (list: Value, value: Value): boolean => items(list).some((item) => equalValues(item, value));
const hasAll = (list: Value, others: Value): boolean => items(others).every((one) => has(list, one));
function best(list: Value, operator: string, name: string): CelInput {
  const isBetter = (a: CelValue, b: CelValue): boolean => callStandard(operator, a, b) === true;
  return items(list).length === 0
    ? fail(`${name} called on empty list`)
    : items(list).reduce((a, b) => (isBetter(b, a) ? b : a));
}
function sum(list: Value): Value {
  const [first = 0n, ...others] = items(list);
  return others.reduce<CelValue>((a, b) => {
    const added = callStandard("_+_", a, b);
    return added instanceof Error || added === undefined ? fail("integer overflow") : added;
  }, first);
}
const index = (at: number): bigint => BigInt(at);
const notConverted = (type: string): never => fail(`type conversion error from 'string' to '${type}'`);
function whole(value: Value, type: string, least: bigint, most: bigint): bigint {
  const read = /^[+-]?\d+$/.test(text(value)) ? BigInt(text(value).replace("+", "")) : undefined;
  return read === undefined || read < least || read > most ? notConverted(type) : read;
}
const float = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$/i;
function duration(value: Value): CelInput {
  const read = text(value) === "" ? undefined : callStandard("duration", text(value));
  return read === undefined || isCelError(read) ? notConverted("google.protobuf.Duration") : read;
}
const isNegative = (value: Value): boolean => text(value).startsWith("-");
function double(value: Value): number {
  const given = text(value);
  if (!float.test(given)) return notConverted("double");
  return /inf/i.test(given) ? (isNegative(value) ? -Infinity : Infinity) : Number(given);
}
const [firstSecond, lastSecond] = [-62_135_596_800, 253_402_300_799];
function timestamp(value: Value): CelInput {
  const seconds = Number(value);
  return seconds < firstSecond || seconds > lastSecond
    ? fail("timestamp overflow")
    : timestampFromMs(seconds * 1000);
}

/** All functions of rules that the library lacks, or reads in another way. */
export const functions: CelFunc[] = [
  ...strings,
  func("_==_", "T T", equalValues),
  func("_!=_", "T T", (a, b) => !equalValues(a, b)),
  func("_+_", "list list", (a, b) => (isCelList(a) && isCelList(b) ? addedLists(a, b) : undefined)),
  func("@in", "T list", (value, list) => has(list, value)),
  func("int", "string", (value) => whole(value, "int", -(2n ** 63n), 2n ** 63n - 1n)),
  func("uint", "string", (value) => celUint(whole(value, "uint", 0n, 2n ** 64n - 1n))),
  func("double", "string", double),
  func("duration", "string", duration),
  func("timestamp", "int", timestamp),

  method("isSorted", "list", (list) =>
    items(list).every((one, i) => i === 0 || callStandard("_<=_", items(list)[i - 1] ?? null, one) === true),
  ),
  method("min", "list", (list) => best(list, "_<_", "min")),
  method("max", "list", (list) => best(list, "_>_", "max")),
  method("sum", "list", sum),
  method("indexOf", "list T", (list, value) =>
    index(items(list).findIndex((item) => equalValues(item, value))),
  ),
  method("lastIndexOf", "list T", (list, value) =>
    index(items(list).findLastIndex((item) => equalValues(item, value))),
  ),

  method("replace", "string string string", replaced),
  method("replace", "string string string int", replaced),
  method("split", "string string", parts),
  method("split", "string string int", parts),
  method("find", "string string", (value, pattern) => found(value, pattern, 1n)[0] ?? ""),
  method("findAll", "string string", found),
  method("findAll", "string string int", found),
  func("isURL", "string", (value) => requestUri(text(value))),

  func("sets.contains", "list list", hasAll),
  func("sets.equivalent", "list list", (a, b) => hasAll(a, b) && hasAll(b, a)),
  func("sets.intersects", "list list", (a, b) => items(b).some((one) => has(a, one))),

  func("optional.of", "T", optionalOf),
  func("optional.ofNonZeroValue", "T", (value) => (isZero(value) ? optionalOf() : optionalOf(value))),
  method("hasValue", "optional", (value) => items(value).length > 0),
  method("value", "optional", (value) => items(value)[0] ?? fail("optional.none() dereference")),
  method("or", "optional optional", (a, b) => (items(a).length > 0 ? a : b)),
  method("orValue", "optional T", (a, b) => (items(a).length > 0 ? items(a)[0] : b)),
  func("optional.none", "", () => optionalOf()),
  // The parts that `?.` and `[?]` select: optionals.ts writes these as calls.
  method("optional_part", "any any", partOf),
];
