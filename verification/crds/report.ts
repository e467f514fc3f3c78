// The result for people: each sort of difference with an example, a table of the projects, and a last line of figures.
import { describeDifferences } from "../../packages/sandbox/conformance/compare.ts";
import { markdownTable } from "../harness/markdown-table.ts";
import type { Differing, Outcome } from "./compare-project.ts";

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const uncheckedIn = ({ unchecked }: Outcome): number => sum([...unchecked.values()]);

/** One project in a line. */
export const summary = (outcome: Outcome): string =>
  `${outcome.project}: ${outcome.definitions} definitions, ${outcome.samples} samples, ${outcome.made} made, ` +
  `${outcome.mutations} mutations, ${outcome.requests} requests: ${outcome.differing.length} differ, ` +
  `${uncheckedIn(outcome)} not checked`;

/** Differences that are likely of one cause: in the same place of the answer, after the same change. */
const sortOf = ({ label, found }: Differing): string => {
  const place = (found[0]?.path ?? "").replaceAll(/\[\d+\]/g, "[]");
  return `${label.replace(/ at .*/, "")}: ${place.split(".").slice(0, 4).join(".")}`;
};

/** Of each sort of difference one example, `shown` sorts at most. */
export const examples = (differing: readonly Differing[], shown: number): string[] =>
  [...Map.groupBy(differing, sortOf)]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, shown)
    .flatMap(([sort, all]) =>
      all
        .slice(0, 1)
        .map(
          ({ project, about, label, found }) =>
            `== ${all.length} times ${sort}\n   ${project}: ${about}: ${label}\n${describeDifferences(found.slice(0, 3))}`,
        ),
    );

/** The whole result: a line of figures is its last. */
export function report(outcomes: readonly Outcome[]): string {
  const reasons = new Map<string, number>();
  for (const { unchecked } of outcomes)
    for (const [what, count] of unchecked) reasons.set(what, (reasons.get(what) ?? 0) + count);
  const head = [
    "project",
    "definitions",
    "samples",
    "made",
    "mutations",
    "requests",
    "not checked",
    "differ",
  ];
  const rows = outcomes.map((one) => [
    one.project,
    ...[one.definitions, one.samples, one.made, one.mutations, one.requests, uncheckedIn(one)],
    one.differing.length,
  ]);
  const total = (of: (one: Outcome) => number): number => sum(outcomes.map(of));
  return [
    markdownTable(
      head,
      rows.map((row) => row.map(String)),
    ),
    ...[...reasons].map(([what, count]) => `not checked: ${count} times ${what}`),
    `${outcomes.length} projects, ${total((one) => one.definitions)} definitions, ` +
      `${total((one) => one.samples)} samples and ${total((one) => one.made)} made, ` +
      `${total((one) => one.mutations)} mutations, ${total((one) => one.requests)} requests: ` +
      `${total((one) => one.differing.length)} differ, ${total(uncheckedIn)} not checked`,
  ].join("\n");
}
