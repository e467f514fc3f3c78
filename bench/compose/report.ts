import { type Circumstances, percents } from "../report/command-line.ts";
import { spread } from "../../verification/harness/spread.ts";
import { countTable, figure, range, table } from "../report/markdown.ts";
import { ratios } from "../report/ratios.ts";
import { type Figures, type Step, steps, type Turn } from "./measured.ts";
import { childrenOfEach } from "./sites.ts";

export interface Conditions extends Circumstances {
  readonly parents: number;
  /** Contestants that could not be built, and why. */
  readonly notRun: ReadonlyMap<string, string>;
}

/** All others are compared with this contestant. */
export const reference = "controller-runtime";

const sum = (figures: Readonly<Record<string, number>>): number =>
  Object.values(figures).reduce((total, one) => total + one, 0);
const isOf = (what: RegExp) => (figures: Figures) =>
  sum(Object.fromEntries(Object.entries(figures.requests).filter(([name]) => what.test(name))));

const measures: readonly (readonly [title: string, of: (figures: Figures) => number])[] = [
  ["time, ms", ({ time }) => time],
  ["API calls", ({ requests }) => sum(requests)],
  ["of these, reads", isOf(/^(get|list|watch) /)],
  [
    "writes of children",
    isOf(/^(create|update|patch|delete) (configmaps|serviceaccounts|services|deployments)$/),
  ],
  ["writes of parents", isOf(/^(create|update|patch|delete) sites/)],
  ["Events", isOf(/^(create|update|patch) events/)],
  ["reconciles", ({ runs }) => runs],
  ["CPU, s", ({ cpu }) => sum(cpu)],
  ["API server's CPU, s", ({ serverCpu }) => serverCpu],
];

/** @param turns of all contestants, in the order of the rounds. */
export function report(turns: readonly Turn[], conditions: Conditions): string {
  const { command, machine, busy, parents, notRun } = conditions;
  const names = [...new Set(turns.map(({ contestant }) => contestant))];
  const rounds = turns.filter(({ contestant }) => contestant === reference).length;
  return [
    "<!-- Written by npm run bench:compose. -->",
    "# What children cost",
    `\`${command}\` on ${machine}, which was ${percents(busy, " and ")} busy before and after: ` +
      `${parents.toLocaleString("en")} parents with ${childrenOfEach} children each. ` +
      `min / **median** / max of ${rounds === 1 ? "the one round" : `${rounds} rounds`}; in brackets, the median of the ` +
      `ratios to ${reference} in the same round.`,
    ...[...notRun].map(([name, why]) => `*${name} was not run:* ${why}`),
    ...steps.map((step) => `## ${step}\n\n${comparison(turns, names, step)}`),
    "## Memory and CPU of the last round, by process",
    byProcess(turns, names),
    "## API calls of the last round",
    ...steps.map((step) => `### ${step}\n\n${calls(turns, names, step)}`),
  ].join("\n\n");
}

const of = (turns: readonly Turn[], name: string, step: Step): readonly Figures[] =>
  turns
    .filter(({ contestant }) => contestant === name)
    .flatMap(({ figures }) => figures.filter((one) => one.step === step));

function comparison(turns: readonly Turn[], names: readonly string[], step: Step): string {
  const rows = measures.map(([title, measure]) => {
    const theirs = of(turns, reference, step).map(measure);
    const cells = names.map((name) => {
      const ours = of(turns, name, step).map(measure);
      const ratio = ratios(ours, theirs).filter(Number.isFinite);
      const isCompared = name !== reference && ratio.length > 0;
      return `${range(spread(ours))}${isCompared ? ` (${figure(spread(ratio).median)})` : ""}`;
    });
    return [title, ...cells];
  });
  return table(["", ...names], rows);
}

const lastOf = (turns: readonly Turn[], name: string): Turn | undefined =>
  turns.filter(({ contestant }) => contestant === name).at(-1);

function byProcess(turns: readonly Turn[], names: readonly string[]): string {
  const rows = names.flatMap((name) => {
    const { memory = {}, figures = [] } = lastOf(turns, name) ?? {};
    return Object.entries(memory).map(([process, bytes]) => [
      ...[name, process, figure(bytes / 1024 ** 2)],
      ...figures.map(({ cpu }) => figure(cpu[process] ?? NaN)),
    ]);
  });
  return table(["", "", "MiB", ...steps.map((step) => `CPU of ${step}, s`)], rows, 2);
}

const calls = (turns: readonly Turn[], names: readonly string[], step: Step): string =>
  countTable(
    names,
    names.map((name) => of(turns, name, step).at(-1)?.requests ?? {}),
  );
