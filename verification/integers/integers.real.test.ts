import { parseJson, writeJson } from "@drover/json";
import { expect, it } from "vitest";
import { pseudoRandom } from "@drover/random";
import { goLines } from "../harness/go-lines.ts";

/* Kubernetes' own package reads documents and writes them again. Where Drover has read and written a document in between, it
   must come to the same: the judge reads nothing but text. */

/** What Go makes of each text; "refused" where it is no JSON. */
const byGo = (texts: readonly string[]) => goLines(import.meta.dirname, texts);

function byDrover(json: string): string {
  try {
    return writeJson(parseJson(json));
  } catch {
    return "refused";
  }
}

const edges = [2n ** 53n, 2n ** 63n, 2n ** 64n, 10n ** 15n, 10n ** 16n, 10n ** 18n, 10n ** 19n, 10n ** 21n];

/** Numbers as people and programs write them, wrong ones too. */
function numberText(random: () => number): string {
  const below = (most: number): number => Math.floor(random() * most);
  const digits = (count: number): string => Array.from({ length: count }, () => below(10)).join("");
  const sign = random() < 0.4 ? "-" : "";
  const whole = (): string => {
    const near = (edges[below(edges.length)] ?? 0n) + BigInt(below(7) - 3);
    return random() < 0.5 ? String(near) : `${below(9) + 1}${digits(below(24))}`;
  };
  switch (below(9)) {
    case 0:
      return `${sign}${whole()}.${digits(below(20) + 1)}`;
    case 1:
      return `${sign}${whole()}e${["", "+", "-"][below(3)] ?? ""}${below(250)}`;
    case 2:
      return `${sign}0.${digits(below(20) + 1)}`;
    case 3:
      return (
        ["0", "-0", "1.0", "1e3", "1E+3", "007", "+1", "1.", ".5", "--1", "0x10", "1_000"][below(12)] ?? ""
      );
    default:
      return sign + whole();
  }
}

const blank = (random: () => number): string =>
  ["", "", "", " ", "\t", "\r", "  "][Math.floor(random() * 7)] ?? "";

/** A document with numbers in places of all kinds, and digits in texts; some are broken off. */
function documentText(random: () => number): string {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const name = (): string =>
    pick(["a", "b", "spec", "9007199254740993", "__proto__", "", "\\u0061", "toString", "length", "0", "1"]);
  const value = (depth: number): string => {
    const space = (): string => blank(random);
    const count = Math.floor(random() * 4);
    const chance = random() - depth * 0.06;
    if (chance > 0.75) {
      const fields = Array.from(
        { length: count },
        () => `"${name()}"${space()}:${space()}${value(depth + 1)}`,
      );
      return `{${space()}${fields.join(`${space()},`)}${space()}}`;
    }
    if (chance > 0.55)
      return `[${Array.from({ length: count }, () => space() + value(depth + 1)).join()}${space()}]`;
    if (chance > 0.5) return pick(["true", "false", "null"]);
    if (chance > 0.42)
      return pick(['""', '":9007199254740993"', '"\\",9007199254740993"', '"\\\\"', '"[ 9007199254740993]"']);
    return numberText(random);
  };
  const whole = blank(random) + value(0) + blank(random);
  return random() < 0.03 ? whole.slice(0, Math.floor(random() * whole.length)) : whole;
}

/** JavaScript has them as Infinity, and JSON as null: no API server can have sent them. */
const isTooLarge = (json: string): boolean => /Infinity/.test(JSON.stringify(infinities(json)));
function infinities(json: string): unknown {
  try {
    return JSON.parse(json, (_, value: unknown) =>
      value === Infinity || value === -Infinity ? "Infinity" : value,
    );
  } catch {
    return undefined;
  }
}

/** Go keeps the sign of a negative zero with a fraction, but loses it when it reads that again. */
const withoutSign = (line: string | undefined): string =>
  (line ?? "").replace(/(?<=^|[[:,])-0(?=[,}\]]|$)/g, "0");

it("a document that Drover has read and written is the same to Kubernetes", async () => {
  const random = pseudoRandom(Number(process.env["DROVER_SEED"] ?? 1)).fraction;
  const all = Array.from({ length: 40_000 }, () => documentText(random)).filter(
    (json) => json.trim() !== "" && !isTooLarge(json),
  );
  const ours = all.map(byDrover);
  const [expected, found] = [await byGo(all), await byGo(ours)];
  const wrong = all.flatMap((json, i) =>
    withoutSign(expected[i]) === withoutSign(found[i]) ? [] : [[json, expected[i], found[i]]],
  );
  expect(wrong).toEqual([]);
  // Or else nothing was shown.
  const withLarge = expected.filter((line) => /(?<=[[:,]|^)-?\d{17,19}(?=[,}\]]|$)/.test(line));
  expect(withLarge.length).toBeGreaterThan(5_000);
  expect(expected.filter((line) => line === "refused").length).toBeGreaterThan(500);
}, 600_000);
