// Rules of definitions (CEL): each definition with valid and invalid objects, created, updated, patched and applied.
import type { Json, JsonObject } from "../../src/json.ts";
import { apply, caseOf, patch, post } from "../steps.ts";
import type { Case, Step } from "../steps.ts";
import { embedded, free, keeps, keyedBy, list, mapOf, mixed, set, struct, text, whole } from "../schemas.ts";
import { inHome, madeWith, thing, withStatus } from "../things.ts";

export const rules = (...all: readonly (string | JsonObject)[]): JsonObject => ({
  "x-kubernetes-validations": all.map((one) => (typeof one === "string" ? { rule: one } : one)),
});
export const short = { ...text, maxLength: 30 };
export const few = { maxItems: 5 };
const number = { type: "number" };
/** An object with these fields in its spec, and with rules for it. */
export const withRules = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  struct({ spec: struct(properties, more), status: struct({ n: whole }) });

/** A schema, the specs of new objects, and specs with which each of them is replaced. */
type Table = Readonly<Record<string, readonly [JsonObject, readonly Json[], (readonly Json[])?]>>;

const table: Table = {
  "at each level": [
    struct(
      { spec: struct({ a: { ...whole, ...rules("self > 1") }, b: whole }, rules("self.a <= self.b")) },
      rules(
        "self.spec.b < 9",
        "self.metadata.name != 'o1'",
        "self.kind == 'Thing'",
        "!has(self.metadata.generateName)",
      ),
    ),
    [{ a: 2, b: 3 }, { a: 1, b: 2 }, { a: 3, b: 2 }, { a: 3 }, { a: 9, b: 9 }, {}],
    [
      { a: 2, b: 4 },
      { a: 2, b: 1 },
    ],
  ],
  "of items and values": [
    withRules({
      l: list({ ...whole, ...rules("self > 0") }, few),
      m: mapOf({ ...short, ...rules("self != ''") }, { maxProperties: 3 }),
      k: keyedBy(
        struct(
          { name: short, n: whole },
          {
            required: ["name"],
            ...rules("self.n > 0", { rule: "self.n >= oldSelf.n", message: "n only grows" }),
          },
        ),
        "name",
      ),
      deep: list(mapOf(list({ ...whole, ...rules("self < 5") }, few), { maxProperties: 3 }), few),
    }),
    [
      { l: [1, 0, -1] },
      { m: { "": "x", "a.b/c": "", b: "" } },
      {
        k: [
          { name: "a", n: 2 },
          { name: "b", n: 1 },
        ],
      },
      { k: [{ name: "a" }] },
      { deep: [{ a: [1, 7] }, { b: [9] }] },
    ],
    [
      {
        k: [
          { name: "b", n: 0 },
          { name: "a", n: 3 },
          { name: "c", n: 1 },
        ],
        l: [1],
      },
      { l: [0] },
      { m: { b: "", c: "" } },
    ],
  ],
  "messages and reasons": [
    withRules({
      a: {
        ...whole,
        ...rules(
          { rule: "self != 1", message: "  not one " },
          { rule: "self != 2", message: "x", messageExpression: "self == 2 ? 'is two' : 'is not'" },
          { rule: "self != 3", messageExpression: "''" },
          { rule: "self != 4", messageExpression: "'a\\nb'", message: "lines" },
          { rule: "self != 5", messageExpression: "1 / (self - 5) > 0 ? 'a' : 'b'", message: "fallback" },
          ...["Invalid", "Forbidden", "Required", "Duplicate"].map((reason) => ({
            rule: "self != 6",
            reason: `FieldValue${reason}`,
            message: `by ${reason}`,
          })),
          { rule: "self != 7\n&& true", message: "two lines" },
          { rule: " self != 8 " },
        ),
      },
      s: { ...short, ...rules({ rule: "self == 'ok'", reason: "FieldValueDuplicate" }) },
      o: struct(
        { x: struct({ y: mapOf(whole), "a.b": whole }) },
        rules(
          { rule: "!has(self.x)", fieldPath: ".x.y", message: "m", reason: "FieldValueRequired" },
          { rule: "!has(self.x)", fieldPath: ".x['a.b']" },
          { rule: "!has(self.x)", fieldPath: ".x.y['k l']", reason: "FieldValueDuplicate" },
        ),
      ),
    }),
    [...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((a) => ({ a })), { s: "no" }, { o: { x: {} } }],
  ],
  transitions: [
    withRules(
      {
        once: { ...short, ...rules({ rule: "self == oldSelf", message: "cannot be changed" }) },
        grows: {
          ...whole,
          ...rules({
            rule: "oldSelf.hasValue() ? self > oldSelf.value() : self == 1",
            optionalOldSelf: true,
          }),
        },
        least: {
          ...whole,
          ...rules({
            rule: "self >= oldSelf.orValue(5)",
            optionalOldSelf: true,
            messageExpression: "oldSelf.hasValue() ? 'grows' : 'starts at 5'",
          }),
        },
        m: mapOf({ ...whole, ...rules("self >= oldSelf") }, { maxProperties: 3 }),
        o: struct({ a: whole }, { ...keeps, ...rules("self == oldSelf") }),
        free: { ...free, ...rules("self == oldSelf") },
      },
      rules("!has(oldSelf.once) || has(self.once)"),
    ),
    [
      { once: "a", grows: 1, least: 5, m: { a: 1, b: 2 }, o: { a: 1, b: { c: 1 } }, free: { a: [1] } },
      { grows: 2, least: 4 },
      {},
    ],
    [
      { once: "b", grows: 1, least: 4, m: { a: 0, b: 3, c: 0 }, o: { a: 1, b: { c: 2 } }, free: { a: [2] } },
      { once: "a", grows: 2, least: 6, o: { a: 1, c: 1 }, free: { a: [1], b: 1 } },
      {},
    ],
  ],
  "unchanged errors": [
    withRules({
      a: { ...whole, ...rules("self < 5") },
      b: short,
      l: list({ ...whole, ...rules("self < 5") }, few),
      k: keyedBy(
        struct({ name: short, n: { ...whole, ...rules("self < 5") } }, { required: ["name"] }),
        "name",
      ),
    }),
    [{ a: 1 }, { l: [1, 2], k: [{ name: "a", n: 1 }] }],
    [{ a: 2, b: "x" }],
  ],
  "integers and numbers": [
    withRules(
      { i: whole, n: number, p: mixed, big: { ...whole, format: "int64" } },
      rules(
        "!has(self.i) || self.i + 9223372036854775800 > 0",
        "!has(self.i) || 10 / self.i > 0",
        "!has(self.i) || 10 % self.i == 0",
        "!has(self.n) || self.n / 0.0 > 1.0",
        "!has(self.n) || !has(self.i) || self.n > self.i",
        "!has(self.n) || self.n == double(int(self.n))",
        "!has(self.p) || (type(self.p) == int ? self.p < 5 : self.p.matches('^[0-9]+%$'))",
        "!has(self.p) || self.p > 3",
        "!has(self.big) || self.big - 1 < self.big",
        "!has(self.n) || string(self.n) != '1e+21'",
      ),
    ),
    [
      { i: 0 },
      { i: 5, n: 5 },
      { i: 8 },
      { n: 2 },
      { n: 1.5 },
      { n: 1e21 },
      { p: 4 },
      { p: 5 },
      { p: "5%" },
      { p: "x" },
      { big: 9007199254740993 },
    ],
  ],
  formats: [
    withRules(
      {
        at: { ...text, format: "date-time" },
        day: { ...text, format: "date" },
        wait: { ...text, format: "duration" },
        data: { ...text, format: "byte", maxLength: 20 },
      },
      rules(
        "!has(self.at) || self.at > timestamp('2020-01-01T00:00:00Z')",
        "!has(self.at) || self.at.getFullYear() == 2024",
        "!has(self.day) || self.day.getDayOfWeek() != 0",
        "!has(self.wait) || self.wait < duration('1h30m')",
        "!has(self.data) || size(self.data) == 5",
        "!has(self.data) || self.data == b'hello'",
        "!has(self.at) || !has(self.wait) || self.at + self.wait < timestamp('2024-02-29T13:00:00Z')",
        "!has(self.at) || self.at.getHours('+02:00') == 14",
        "!has(self.at) || string(self.at) == '2024-02-29T12:00:00Z'",
      ),
    ),
    [
      { at: "2024-02-29T12:00:00Z", wait: "1.5s" },
      { at: "2024-02-29T12:00:00.123456789+01:00", wait: "2h" },
      { at: "2019-12-31T23:59:59Z" },
      { day: "2024-03-03" },
      { day: "2024-03-04" },
      { data: "aGVsbG8=" },
      { data: "aGVs" },
    ],
  ],
  "names that are escaped": [
    withRules(
      {
        "a.b": whole,
        "a-b": whole,
        "a/b": whole,
        a__b: whole,
        namespace: short,
        in: whole,
        "9a": whole,
        $x: whole,
      },
      rules(
        "self.a__dot__b > 0",
        "self.a__dash__b > 0",
        "self.a__slash__b > 0",
        "self.a__underscores__b > 0",
        "self.__namespace__ == 'x'",
        "self.__in__ > 0",
      ),
    ),
    [
      { "a.b": 1, "a-b": 1, "a/b": 1, a__b: 1, namespace: "x", in: 1 },
      { "a.b": 0, "a-b": 0, "a/b": 0, a__b: 0, namespace: "y", in: 0 },
      { namespace: "x", "9a": 1 },
    ],
  ],
  "nulls and unknown fields": [
    withRules(
      {
        maybe: { ...short, nullable: true },
        l: list({ ...whole, nullable: true }, few),
        m: mapOf({ ...whole, nullable: true }, { maxProperties: 3 }),
        any: keeps,
        inner: { ...embedded, ...keeps },
      },
      rules(
        "has(self.maybe)",
        "!has(self.l) || self.l.all(x, type(x) == int)",
        "!has(self.m) || self.m.all(k, type(self.m[k]) != null_type)",
        "!has(self.inner) || self.inner.metadata.name == 'x'",
        "!has(self.inner) || self.inner.kind == 'Pod'",
      ),
    ),
    [
      { maybe: null },
      { maybe: "" },
      { l: [1, null] },
      { m: { a: null } },
      { any: { x: 1 }, maybe: "x" },
      { inner: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: {} } },
      { inner: { apiVersion: "v1", kind: "Service", metadata: { name: "y" } } },
    ],
  ],
  "macros and strings": [
    withRules(
      { s: short, l: list(short, few), n: list(whole, few), m: mapOf(short, { maxProperties: 3 }) },
      rules(
        "self.l.all(x, x.startsWith('a'))",
        "self.l.exists(x, x.endsWith('z'))",
        "self.l.exists_one(x, x == 'a')",
        "self.l.filter(x, x.contains('b')).size() == 1",
        "self.l.map(x, x + '!') == ['a!', 'b!']",
        "self.l.map(x, x != 'a', size(x)) == [1]",
        "'a' in self.l",
        "'k' in self.m",
        "self.m.exists(k, self.m[k] == 'v')",
        "self.s.matches('^[a-z]+$')",
        "self.s.split('-').size() == 2",
        "self.s.lowerAscii() == self.s",
        "self.s.replace('a', 'b') != self.s",
        "self.s.substring(1).size() < 5",
        "self.s.indexOf('-') > 0",
        "self.s.charAt(0) == 'a'",
        "self.l.join(',').size() < 4",
        "self.s.trim() == self.s",
        "'%s has %d'.format([self.s, self.l.size()]) != 'a-b has 2'",
        "self.s < 'b'",
        "size(self.s) < 6",
        "self.l[1] == 'b'",
        "self.m['k'] == 'v'",
        "self.n.isSorted()",
        "self.n.sum() < 10",
        "self.n.max() < 7",
        "self.n.min() > 0",
        "self.n.indexOf(2) >= 0",
        "self.n.lastIndexOf(2) == 1",
        "self.s.find('[0-9]+') == ''",
        "self.s.findAll('[a-z]').size() < 4",
        "self.s.findAll('[a-z]', 1) == ['a']",
        "sets.contains(self.l, ['a'])",
        "sets.equivalent(self.n, [1, 2])",
        "sets.intersects(self.n, [1, 3])",
        "isURL(self.s)",
      ),
    ),
    [
      { s: "a-b", l: ["a", "b"], n: [1, 2], m: { k: "v" } },
      { s: "ä b9 ", l: ["az", "abc", "z"], n: [3, 2, 2], m: { j: "w" } },
      { s: "https://x.y/z", l: [], n: [], m: {} },
      { s: "100Mi", l: ["a", "a"], n: [9, 8], m: { k: "x", l: "v" } },
      {},
    ],
  ],
  "optional parts": [
    withRules(
      {
        o: struct({ a: struct({ b: whole }), l: list(whole, few) }),
        m: mapOf(struct({ n: whole }), { maxProperties: 3 }),
      },
      rules(
        "self.?o.a.b.orValue(1) > 0",
        "self.?o.l[0].orValue(1) > 0",
        "self.?m[?'k'].n.orValue(1) > 0",
        "self.o.?l[?1].hasValue()",
        "optional.of(self.?o.a.b.orValue(0)).value() < 5",
        "self.?o.a.or(optional.none()).hasValue()",
        "self.?m['x'].n.value() == 1",
        "optional.ofNonZeroValue(self.o.a.b).hasValue()",
      ),
    ),
    [{}, { o: { a: { b: 0 }, l: [0, 1] }, m: { k: { n: 0 }, x: { n: 1 } } }, { o: { a: { b: 7 } } }],
  ],
  "lists in any order": [
    withRules(
      {
        s: set(short),
        k: keyedBy(struct({ name: short, v: whole }, { required: ["name"] }), "name"),
        l: list(short, few),
      },
      rules(
        "self.s == oldSelf.s",
        "self.k == oldSelf.k",
        "self.l == oldSelf.l",
        "(self.s + ['x', 'a']).size() == 3",
        "(self.l + ['x', 'a']).size() == 4",
      ),
    ),
    [{ s: ["a", "b"], k: [{ name: "a", v: 1 }, { name: "b" }], l: ["a", "b"] }],
    [
      { s: ["b", "a"], k: [{ name: "b" }, { name: "a", v: 1 }], l: ["b", "a"] },
      { s: ["b", "c"], k: [{ name: "b" }, { name: "a", v: 2 }], l: ["a"] },
    ],
  ],
};

/** A definition is made, objects are created, and each of them is replaced, patched, and applied. */
export const rulesCases: readonly Case[] = Object.entries(table).map(
  ([name, [schema, created, replaced = []]]) =>
    caseOf(
      name,
      ...madeWith(schema, withStatus),
      ...created.flatMap((spec, i): Step[] => [
        post(inHome(), thing(`o${i}`, spec)),
        ...replaced.flatMap((other) => [
          patch(`${inHome()}/o${i}?dryRun=All`, { spec: other }),
          apply(`${inHome()}/o${i}`, thing(`o${i}`, other), "m", "force=true&dryRun=All"),
          patch(`${inHome()}/o${i}`, [{ op: "add", path: "/spec", value: other }], "json-patch"),
        ]),
        patch(`${inHome()}/o${i}/status`, { status: { n: i } }),
      ]),
    ),
);
