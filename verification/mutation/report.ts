import { z } from "zod";
import { explanation } from "./explained.ts";
import { isNoticed, type Verdict, verdictSchema } from "./judge.ts";
import { type Mutant, mutantSchema } from "./mutants.ts";

/** A mutant of a package, and what became of it. */
export type Judged = z.output<typeof judgedSchema>;
const judgedSchema = z.object({ package: z.string(), mutant: mutantSchema, verdict: verdictSchema });
/** A sample as it was kept. */
export const readMutants = (text: string): readonly Mutant[] => mutantSchema.array().parse(JSON.parse(text));
/** A line of kept results. */
export const readJudged = (line: string): Judged => judgedSchema.parse(JSON.parse(line));

type Column = Verdict["kind"] | "explained";

const columnOf = ({ mutant, verdict }: Judged): Column =>
  !isNoticed(verdict) && explanation(mutant) !== undefined ? "explained" : verdict.kind;

/** The last line, which docs/nightly.md keeps. */
export function summary(all: readonly Judged[], seed: number): string {
  const count = (column: Column): number => all.filter((one) => columnOf(one) === column).length;
  return (
    `${all.length} mutants, seed ${seed}: ${count("killed") + count("timed out")} noticed, ` +
    `${count("survived")} survived, ${count("no coverage")} in code that no test enters, ${count("explained")} explained`
  );
}

/** The content of results.md. */
export function report(all: readonly Judged[], seed: number): string {
  const packages = [...new Set(all.map((one) => one.package))];
  const left = all.filter((one) => ["survived", "no coverage"].includes(columnOf(one)));
  const explained = all.filter((one) => columnOf(one) === "explained");
  return [
    "# Mutants that tests notice",
    "",
    "<!-- Written by npm run mutation. -->",
    "",
    "A sample of all single changes that Stryker makes of shipped code and the compiler accepts, drawn evenly over the files of",
    `each package by seed ${seed}. Noticed by those tests of \`npm test\` that enter the changed place.`,
    'Of a survivor whose test files took too long only a part was run: "9 of 44". A sample for whose survivors tests were',
    "written is no estimate of what was not drawn: take another seed for that.",
    "",
    "| package | mutants | killed | timed out | survived | no coverage | explained | noticed of the unexplained |",
    "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ...packages.map((name) =>
      row(
        name,
        all.filter((one) => one.package === name),
      ),
    ),
    row("all", all),
    "",
    `## Not noticed (${left.length})`,
    "",
    ...left.map((one) => `- ${one.package}: ${described(one.mutant)}${ranOf(one.verdict)}`),
    ...(left.length === 0 ? ["None."] : []),
    "",
    `## Not noticed, with a reason (${explained.length})`,
    "",
    ...explained.map(({ mutant }) => `- ${described(mutant)}: ${explanation(mutant) ?? ""}`),
    ...(explained.length === 0 ? ["None."] : []),
    "",
  ].join("\n");
}

const COLUMNS: readonly Column[] = ["killed", "timed out", "survived", "no coverage", "explained"];

function row(name: string, judged: readonly Judged[]): string {
  const counts = COLUMNS.map((column) => judged.filter((one) => columnOf(one) === column).length);
  const [killed = 0, late = 0, survived = 0, uncovered = 0] = counts;
  const share = (killed + late) / Math.max(1, killed + late + survived + uncovered);
  return `| ${[name, judged.length, ...counts, `${Math.round(share * 100)} %`].join(" | ")} |`;
}

/** One line; long pieces of code by their beginning. */
export const described = ({ file, line, mutator, original, replacement }: Mutant): string =>
  `${file}:${line} ${mutator} ${code(original)} → ${code(replacement)}`;

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const short = line.length > 90 ? `${line.slice(0, 87)}...` : line;
  const fence = short.includes("`") ? "``" : "`";
  return short === "" ? "nothing" : `${fence}${fence === "``" ? ` ${short} ` : short}${fence}`;
}

function ranOf(verdict: Verdict): string {
  if (verdict.kind !== "survived") return " (no test enters it)";
  const { ran, covering } = verdict;
  return ran === covering ? ` (${ran} test files)` : ` (${ran} of ${covering} test files)`;
}
