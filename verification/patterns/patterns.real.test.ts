import { goPatternProblem } from "@drover/controller";
import { pseudoRandom } from "@drover/random";
import { withLinearPatterns } from "../../packages/runtime/src/schema/linear-patterns.ts";
import { expect, it } from "vitest";
import { z } from "zod";
import { matches, patternProblem } from "../../packages/sandbox/src/schema/pattern.ts";
import { goLines } from "../harness/go-lines.ts";
import { randomPattern, randomText } from "./random-patterns.ts";

/* Patterns in the sandbox, in the zod compiler and in the runtime, beside Go's own regexp, which the API server has. */
interface Asked {
  readonly pattern: string;
  readonly texts: readonly string[];
}
const answerSchema = z.union([
  z.strictObject({ error: z.string() }),
  z.strictObject({ matches: z.array(z.boolean()) }),
]);
type Answer = z.output<typeof answerSchema>;

/** What Go makes of each. */
async function byGo(asked: readonly Asked[]): Promise<readonly Answer[]> {
  const input = asked.map((one) => JSON.stringify(one));
  const lines = await goLines(import.meta.dirname, input);
  return lines.map((line) => answerSchema.parse(JSON.parse(line)));
}

const seed = 20_261_126;
const count = 10_000;
const generated = (accepts: (pattern: string) => boolean): readonly Asked[] => {
  const from = pseudoRandom(seed);
  const asked: Asked[] = [];
  while (asked.length < count) {
    const pattern = randomPattern(from);
    if (accepts(pattern)) asked.push({ pattern, texts: Array.from({ length: 12 }, () => randomText(from)) });
  }
  return asked;
};

it("the sandbox compiles and matches 10,000 patterns as Go does, or reports that it cannot", async () => {
  const asked = generated(() => true);
  const answers = await byGo(asked);
  const refusedByName = /^the sandbox does not know the property|duplicate capture group name/;
  const compared = asked.map(({ pattern, texts }, i) => {
    const problem = patternProblem(pattern);
    const answer = answers[i] ?? { error: "none" };
    if (problem !== undefined && refusedByName.test(problem)) return "refused by name";
    if (problem !== undefined) return "error" in answer ? "does not compile" : { pattern, problem };
    const matched = texts.map((text) => matches(pattern, text));
    return "matches" in answer && String(answer.matches) === String(matched)
      ? "matches"
      : { pattern, texts, matched, answer };
  });
  const counts = new Map<unknown, number>();
  for (const one of compared) if (typeof one === "string") counts.set(one, (counts.get(one) ?? 0) + 1);
  expect(compared.filter((one) => typeof one !== "string")).toEqual([]);
  // Else the generator makes nothing that is worth asking about.
  expect(counts.get("matches")).toBeGreaterThan(count / 3);
  expect(counts.get("does not compile")).toBeGreaterThan(count / 10);
  expect(counts.get("refused by name")).toBeLessThan(count / 10);
});

it("10,000 patterns that a schema takes mean in Go what they mean to its author, and to the runtime", async () => {
  const inJavaScript = (pattern: string): RegExp | undefined => {
    for (const flags of ["u", ""])
      try {
        return new RegExp(pattern, flags);
      } catch {
        // It may be one without the flag.
      }
    return undefined;
  };
  const taken = (pattern: string): boolean => {
    const compiled = inJavaScript(pattern);
    return compiled !== undefined && goPatternProblem(compiled) === undefined;
  };
  const asked = generated(taken);
  const answers = await byGo(asked);
  // A blank or a line end of Unicode's, and a character of two units, may be read otherwise: documented.
  const plain = (text: string): boolean => /^[ -~\n\té漢]*$/.test(text);
  const differ = asked.flatMap(({ pattern, texts }, i): readonly object[] => {
    const answer = answers[i] ?? { error: "none" };
    if ("error" in answer) return [{ pattern, ...answer }];
    const authors = new RegExp(inJavaScript(pattern) ?? "");
    const schema = withLinearPatterns(z.string().regex(new RegExp(authors)));
    return texts.flatMap((text, j) => {
      const go = answer.matches[j];
      const runtimes = schema.safeParse(text.toWellFormed()).success;
      const author = plain(text) ? authors.test(text) : go;
      return go === runtimes && go === author ? [] : [{ pattern, text, go, runtimes, author }];
    });
  });
  expect(differ).toEqual([]);
});
