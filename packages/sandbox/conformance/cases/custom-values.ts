// Values under a structural schema: one POST each.
import type { Json } from "../../src/json.ts";
import { sample, samplesIn } from "../fixtures.ts";
import { caseOf, get, post } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const long = "x".repeat(300);
/** The values of `spec`, one case each. */
const specs: readonly Json[] = [
  {},
  { unknown: 1, text: "known", strict: { must: "m", other: 1 } },
  ...[1, true, [], {}, null, "", "ünïcode \u0000"].map((text) => ({ text })),
  ...["1", 1.5, true, null, 9007199254740991, -1, [1]].map((whole) => ({ whole })),
  ...["true", 0, null].map((flag) => ({ flag })),
  ...["1", 1, 1.5, 1e30].map((number) => ({ number })),
  ...[0, 1, 10, 11, 5.5, "3"].map((from1to10) => ({ from1to10 })),
  ...[0, 0.5, 1, -1].map((above0) => ({ above0 })),
  ...[5, 7, 0].map((fives) => ({ fives })),
  ...[0.3, 0.35].map((tenths) => ({ tenths })),
  ...[2147483647, 2147483648, -2147483649].map((int32) => ({ int32 })),
  ...["a", "ab", "abcd", "abcde", "äöüß", ""].map((short) => ({ short })),
  ...["abc", "Abc", ""].map((lower) => ({ lower })),
  ...["a", "c", null, 1].map((choice) => ({ choice })),
  ...[1, 3, "1"].map((one) => ({ one })),
  ...[[], ["a"], ["a", "b", "c"], "a", [1], [null], null].map((few) => ({ few })),
  ...[{}, { a: 1 }, { a: 1, b: 2, c: 3 }, { a: "1" }, { a: null }, [], "x"].map((pairs) => ({ pairs })),
  ...[null, "x", 1].map((maybe) => ({ maybe })),
  ...[null, "x"].map((maybeDefault) => ({ maybeDefault })),
  ...[null, "x", ""].map((defaulted) => ({ defaulted })),
  ...[null, {}, { a: "x" }, { b: null }, { c: 1 }, 1].map((inner) => ({ inner })),
  ...[null, {}].map((innerLater) => ({ innerLater })),
  ...[1, "http", 1.5, true, null, [], {}].map((port) => ({ port })),
  ...[1, "http", "HTTP", true].map((portAny) => ({ portAny })),
  ...[
    ["a", "b"],
    ["a", "a"],
    ["a", "a", "a", "b", "b"],
  ].map((set) => ({ set })),
  ...[
    [{ name: "a" }, { name: "b", value: 1 }],
    [
      { name: "a", value: 1 },
      { name: "a", value: 2 },
    ],
    [{ value: 1 }],
    [{ name: "a", more: 1 }],
    [null],
  ].map((map) => ({ map })),
  ...[[{ name: "a" }, { name: "a" }], [{ name: 1 }, { value: "x" }], [[]], [{ name: "a", x: { y: 1 } }]].map(
    (objects) => ({ objects }),
  ),
  ...[{}, { a: "1" }, { a: "1", b: "2" }].flatMap((value) => [
    { either: value },
    { some: value },
    { both: value },
  ]),
  ...["x", "y"].map((never) => ({ never })),
  ...[{}, { must: null }, { must: "" }, { may: "x" }].map((strict) => ({ strict })),
  ...[{}, { a: { b: null, c: [] } }, null, 1].map((free) => ({ free })),
  ...[{ a: null }, null, 1, "x", []].map((any) => ({ any })),
  { embedded: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { x: 1 } } },
  ...["2020-01-01T00:00:00Z", "2020-01-01", "2020-13-01T00:00:00Z", ""].map((datetime) => ({ datetime })),
  ...["2020-01-01", "2020-02-31", "x"].map((date) => ({ date })),
  ...["aGVsbG8=", "aGVsbG8", "%"].map((byte) => ({ byte })),
  ...["0b6e1a1e-58b6-4e8d-9f3c-1f0d2b3c4d5e", "x"].map((uuid) => ({ uuid })),
  ...["1.2.3.4", "1.2.3.256", "::1"].map((ipv4) => ({ ipv4 })),
  ...["::1", "1.2.3.4", "x"].map((ipv6) => ({ ipv6 })),
  ...["10.0.5.0/24", "10.2.0.0/33"].map((cidr) => ({ cidr })),
  ...["a.example.com", "-a", long].map((hostname) => ({ hostname })),
  ...["https://example.com/x", "/x", "x"].map((uri) => ({ uri })),
  { whole: "1", flag: 1, few: [], from1to10: 11, strict: {} },
  { map: [{ name: "a" }, { name: "a" }], set: ["a", "a"], from1to10: 0, choice: "z" },
];

const shortened = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > 70 ? `${text.slice(0, 70)}...` : text;
};

const most = "9223372036854775807";
const least = "-9223372036854775808";
const beyond = "9007199254740993";
/** A request about a Sample with this spec, or this patch of one. JSON as text: no number of JavaScript is like these. */
const exact = (method: string, text: string, type = "json", of = ""): Step => ({
  method,
  path: `${samplesIn}${of}`,
  text:
    method === "POST"
      ? `{"apiVersion":"example.com/v1","kind":"Sample","metadata":{"name":"s"},"spec":${text}}`
      : text,
  headers: { "content-type": `application/${type}` },
});
const tested = (value: string): Step =>
  exact("PATCH", `[{"op":"test","path":"/spec/pairs/a","value":${value}}]`, "json-patch+json", "/s");

/** Integers of 64 bits: kept, rounded or refused, and patched. */
const integers: Case = caseOf(
  "integers beyond 2^53",
  exact("POST", '{"pairs":{"a":9223372036854775808}}'),
  exact(
    "POST",
    `{"free":{"a":[${beyond},${least}],"b":0.5,"c":12345678901234567890,"d":${beyond}.0,"e":1e3,"f":1.0,"g":1E+21},"pairs":{"a":${beyond},"b":${least}},"whole":${most}}`,
  ),
  get(samplesIn),
  exact("PATCH", `{"spec":{"pairs":{"b":${most}}}}`, "merge-patch+json", "/s"),
  tested(beyond),
  tested("9007199254740992"),
  get(`${samplesIn}/s`),
);

export const customValues: readonly Case[] = [
  integers,
  ...specs.map((spec) => caseOf(`spec ${shortened(spec)}`, post(samplesIn, sample(spec)))),
  ...[null, 1, "x", []].map((spec) =>
    caseOf(`a whole spec of ${JSON.stringify(spec)}`, post(samplesIn, sample(spec)), get(`${samplesIn}/s`)),
  ),
];
