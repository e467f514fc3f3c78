// Random rules of a small grammar, and random values for them. Most rules have the right types.
import type { PseudoRandom } from "@drover/random";
import type { Json, JsonObject } from "../../src/json.ts";
import { keyedBy, list, mapOf, mixed, set, struct, text, whole } from "../schemas.ts";

const short = { ...text, maxLength: 8 };
const few = { maxItems: 4 };
/** The schema of all objects. Rules read these fields. */
export const specSchema = {
  i: whole,
  j: whole,
  n: { type: "number" },
  s: short,
  t: short,
  b: { type: "boolean" },
  l: list(whole, few),
  d: list({ type: "number" }, few),
  w: list(short, few),
  e: { ...set(short), ...few },
  m: mapOf(short, { maxProperties: 3 }),
  o: struct({ x: whole, y: short, z: { ...short, nullable: true } }),
  k: { ...keyedBy(struct({ name: short, v: whole }, { required: ["name"] }), "name"), ...few },
  p: { ...mixed, maxLength: 8 },
  at: { ...text, format: "date-time" },
  for: { ...text, format: "duration" },
};

type Kind = "bool" | "int" | "double" | "string" | "ints" | "strings" | "doubles" | "timestamp" | "duration";
const leaves: Readonly<Record<Kind, readonly string[]>> = {
  bool: [
    "self.b",
    "true",
    "false",
    "has(self.s)",
    "has(self.o.y)",
    "has(self.o.z)",
    "has(self.k[0].v)",
    "self == oldSelf",
    "self.e == oldSelf.e",
    "self.o == oldSelf.o",
    "self.k == oldSelf.k",
  ],
  int: [
    "self.i",
    "self.j",
    "0",
    "1",
    "-3",
    "7",
    "self.o.x",
    "self.k[0].v",
    "int(self.n)",
    "size(self.m)",
    "oldSelf.i",
    "9007199254740991",
    "self.p",
    "self.?o.x.orValue(2)",
    "self.l[?1].orValue(self.i)",
    "int(self.s)",
    "self.at.getDayOfWeek()",
    "self.__for__.getSeconds()",
  ],
  double: ["self.n", "0.5", "-1.0", "2.0", "double(self.i)", "double(self.s)", "1e3"],
  string: [
    "self.s",
    "self.t",
    "''",
    "'a'",
    "'b-1'",
    "self.o.y",
    "self.m['a']",
    "self.m.b",
    "self.k[0].name",
    "string(self.i)",
    "string(self.n)",
    "self.?o.z.orValue('none')",
    "string(self.__for__)",
    "string(self.b)",
    "self.o.z",
  ],
  ints: ["self.l", "[1, 2]", "self.k.map(x, x.v)"],
  doubles: ["self.d", "[0.5, 1.5]"],
  strings: [
    "self.w",
    "self.e",
    "['a', 'b']",
    "self.k.map(x, x.name)",
    "self.m.map(x, x)",
    "self.s.split('-')",
    "self.s.findAll('[a-z]')",
    "self.s.split('')",
    "self.s.split('a', 2)",
  ],
  timestamp: ["self.at", "timestamp('2024-02-29T12:00:00Z')", "timestamp(1700000000)"],
  duration: ["self.__for__", "duration('90m')", "duration('-1.5s')"],
};

/** `$kind` stands for an expression of this kind. */
const forms: Readonly<Record<Kind, readonly string[]>> = {
  bool: [
    "$bool && $bool",
    "$bool || $bool",
    "!($bool)",
    "$bool ? $bool : $bool",
    "$int < $int",
    "$int >= $int",
    "$int == $int",
    "$int != $int",
    "$double <= $double",
    "$double > $int",
    "$int < $double",
    "$double == $double",
    "$string == $string",
    "$string < $string",
    "$string.contains($string)",
    "$string.startsWith($string)",
    "$string.endsWith($string)",
    "$string.matches('^[a-z]+')",
    "$string.matches($string)",
    "$int in $ints",
    "$string in $strings",
    "$string in self.m",
    "$ints.all(x, x > $int)",
    "$ints.exists(x, x == $int)",
    "$ints.exists_one(x, x < $int)",
    "$strings.all(x, x != $string)",
    "$strings.exists(x, x.size() > $int)",
    "self.m.all(x, self.m[x] != $string)",
    "self.k.exists(x, x.v > $int)",
    "self.k.all(x, has(x.v))",
    "$ints == $ints",
    "$strings == $strings",
    "$ints.isSorted()",
    "$strings.isSorted()",
    "sets.contains($ints, $ints)",
    "sets.equivalent($strings, $strings)",
    "sets.intersects($ints, $ints)",
    "$timestamp < $timestamp",
    "$timestamp == $timestamp",
    "$duration >= $duration",
    "isURL($string)",
    "type(self.p) == string",
    "self.p == $int",
    "dyn($int) == dyn($double)",
    "optional.of($int).hasValue()",
    "self.?o.z.hasValue()",
    "optional.ofNonZeroValue($int).hasValue()",
    "bool($string)",
  ],
  int: [
    "($int + $int)",
    "($int - $int)",
    "($int * $int)",
    "($int / $int)",
    "($int % $int)",
    "-($int)",
    "($bool ? $int : $int)",
    "size($string)",
    "$string.size()",
    "$ints.size()",
    "$strings.size()",
    "$ints.sum()",
    "$ints.max()",
    "$ints.min()",
    "$ints[$int]",
    "$ints.indexOf($int)",
    "$strings.lastIndexOf($string)",
    "$string.indexOf($string)",
    "$string.lastIndexOf($string)",
    "int($double)",
    "int($string)",
    "$timestamp.getFullYear()",
    "$timestamp.getMonth()",
    "$timestamp.getDate()",
    "$timestamp.getDayOfYear()",
    "$timestamp.getHours('-07:30')",
    "$duration.getMinutes()",
    "int($timestamp)",
    "optional.of($int).orValue(1)",
  ],
  double: [
    "($double + $double)",
    "($double - $double)",
    "($double * $double)",
    "($double / 2.0)",
    "-($double)",
    "double($int)",
    "double($string)",
    "$doubles.max()",
    "$doubles[0]",
  ],
  string: [
    "($string + $string)",
    "$string.substring($int)",
    "$string.charAt($int)",
    "$string.lowerAscii()",
    "$string.upperAscii()",
    "$string.trim()",
    "$string.replace($string, $string)",
    "$string.replace($string, $string, $int)",
    "$strings.join('-')",
    "$strings.join()",
    "$strings[$int]",
    "$string.find('[0-9]+')",
    "string($int)",
    "string($double)",
    "string($duration)",
    "($bool ? $string : $string)",
    "$strings.max()",
    "'%s %d %.2f'.format([$string, $int, $double])",
    "'%s'.format([$double])",
    "'%s'.format([$ints])",
    "'%x %o %b'.format([$int, $int, $int])",
    "strings.quote($string)",
  ],
  ints: [
    "$ints + $ints",
    "$ints.filter(x, x > $int)",
    "$ints.map(x, x + $int)",
    "$ints.map(x, x > 0, x * 2)",
    "[$int, $int]",
    "$strings.map(x, size(x))",
  ],
  doubles: ["[$double, $double]", "$doubles + $doubles", "$doubles.filter(x, x > $int)"],
  strings: [
    "$strings + $strings",
    "$strings.filter(x, x != $string)",
    "$strings.map(x, x + $string)",
    "[$string, $string]",
    "$string.split($string)",
    "$string.split($string, $int)",
  ],
  timestamp: ["$timestamp + $duration", "$timestamp - $duration", "timestamp($int)", "timestamp($string)"],
  duration: [
    "$duration + $duration",
    "$duration - $duration",
    "$timestamp - $timestamp",
    "duration($string)",
  ],
};
const kinds: readonly [Kind, ...Kind[]] = [
  "bool",
  "int",
  "double",
  "string",
  "ints",
  "strings",
  "doubles",
  "timestamp",
  "duration",
];
const isKind = (name: string): name is Kind => kinds.some((one) => one === name);

function expression(random: PseudoRandom, kind: Kind, depth: number): string {
  const all = depth > 0 && random.below(8) > 0 ? forms[kind] : leaves[kind];
  const form = all[random.below(all.length)] ?? "";
  return form.replaceAll(/\$([a-z]+)/g, (_, name: string) => {
    const wanted = isKind(name) ? name : "bool";
    // The real server checks the arguments of format when it compiles a rule; the sandbox does so when it evaluates it.
    const isStrange = random.below(60) === 0 && !form.includes(".format(");
    return expression(random, isStrange ? random.oneOf(kinds) : wanted, depth - 1);
  });
}
export const ruleOf = (random: PseudoRandom): string => expression(random, "bool", 1 + random.below(3));

const words = ["", "a", "b-1", "ab", "ä1", "100m", "7", "true", "zz", "1.5", "/a"] as const;
const numbers = [0, 1, 2, 3, -3, 7, 9007199254740991] as const;
const word = (random: PseudoRandom): string => random.oneOf(words);
const number = (random: PseudoRandom): number => random.oneOf(numbers);
const some = <T extends Json>(random: PseudoRandom, one: (random: PseudoRandom) => T, most = 4): T[] =>
  Array.from({ length: random.below(most) }, () => one(random));
const fields: Readonly<Record<keyof typeof specSchema, (random: PseudoRandom) => Json>> = {
  i: number,
  j: number,
  n: (random) => random.oneOf([0, 0.5, 1, 2.25, -1, 1e21, 1e-7, 123456789.125]),
  s: word,
  t: word,
  b: (random) => random.below(2) === 0,
  l: (random) => some(random, number),
  d: (random) => some(random, (one) => one.oneOf([0.5, 1, -2])),
  w: (random) => some(random, word),
  e: (random) => [...new Set(some(random, word))],
  m: (random) =>
    Object.fromEntries(some(random, (one): [string, string] => [one.oneOf(["a", "b", "c"]), word(one)])),
  o: (random) => ({
    ...(random.below(2) === 0 ? { x: number(random) } : {}),
    ...(random.below(2) === 0 ? { y: word(random) } : {}),
    ...(random.below(2) === 0 ? { z: random.oneOf([null, "z"]) } : {}),
  }),
  k: (random) =>
    [...new Set(some(random, word))].map((name) =>
      random.below(2) === 0 ? { name } : { name, v: number(random) },
    ),
  p: (random) => random.oneOf<Json>([1, 7, "a", "7"]),
  at: (random) =>
    random.oneOf([
      "2024-02-29T12:00:00Z",
      "1999-12-31T23:59:59.123456789-02:00",
      "2024-01-01T00:00:00.5+01:00",
    ]),
  for: (random) => random.oneOf(["1h30m", "1.5s", "0s", "-2h"]),
};
/** A spec; each field is missing at times. */
export const specOf = (random: PseudoRandom): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, make]): [string, Json][] => {
      const value = make(random);
      return random.below(6) === 0 ? [] : [[key, value]];
    }),
  );
