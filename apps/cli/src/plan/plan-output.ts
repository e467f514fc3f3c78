import { oneLine, type OutsideWrite } from "@drover/controller";
import { writeJson } from "@drover/json";
import { styleText } from "node:util";
import { printable } from "../printable-json.ts";
import { table } from "../table.ts";
import type { FieldChange } from "./field-changes.ts";
import type { ObjectPlan, PlannedChange } from "./plan-object.ts";

/** The result of a plan: `failed` if the run of an object would fail, or a child would be refused. */
export type PlanResult = "unchanged" | "changed" | "failed";

export function resultOf({ changes, outside, failure, end }: ObjectPlan): PlanResult {
  if (failure !== undefined || changes.some(({ action }) => action === "refused")) return "failed";
  const isUnchanged = changes.every(({ action }) => action === "nothing" || action === "keep");
  return isUnchanged && outside.length === 0 && end === undefined ? "unchanged" : "changed";
}

type Mark = "+" | "-" | "~" | "!" | "." | " ";

const colours = { "+": "green", "-": "red", "~": "yellow", "!": "red", ".": "cyan", " ": "reset" } as const;

/** The line in the colour of its mark, on a terminal. */
const paint = (mark: Mark, line: string): string => styleText(colours[mark], line);

const looks = {
  nothing: [" ", "is unchanged"],
  create: ["+", "would be created"],
  change: ["~", "would be changed"],
  recreate: ["!", "would be deleted, and created again by a later run"],
  adopt: ["~", "would be adopted"],
  delete: ["-", "would be deleted"],
  release: ["-", "would be released: it is no longer declared, and stays without owner"],
  keep: [" ", "would be kept: it is no longer declared"],
  waits: [".", "would wait"],
  refused: ["!", "would be refused"],
} as const satisfies Record<PlannedChange["action"], readonly [Mark, string]>;

/** The plan of one object, as lines. What is unchanged is only counted. */
export function planLines(plan: ObjectPlan): readonly string[] {
  const { kind, key, changes, outside, failure, end, isPaused } = plan;
  const shown = changes.filter(({ action }) => action !== "nothing");
  const same = changes.length - shown.length;
  const notes = [
    ...outside.map(outsideLine),
    ...(same > 0 ? [`${same} unchanged`] : []),
    ...(isPaused ? ["It is paused: no run starts."] : []),
    ...(failure === undefined ? [] : [paint("!", `The run would fail: ${oneLine(failure)}`)]),
    ...(end === undefined ? [] : [paint(".", `The plan ends here. ${oneLine(end)}`)]),
  ];
  return [
    `${kind} ${key}${shown.length === 0 && notes.length === 0 ? ": nothing would change" : ""}`,
    ...shown.flatMap((change) => changeLines(change)),
    ...notes.map((note) => `  ${note}`),
  ];
}

const outsideLooks = {
  create: ["+", "would be created"],
  set: ["~", "would be set"],
  remove: ["-", "would be removed"],
  delete: ["-", "would be deleted"],
} as const satisfies Record<OutsideWrite["does"], readonly [Mark, string]>;

function outsideLine({ does, target, value }: OutsideWrite): string {
  const [mark, words] = outsideLooks[does];
  return paint(mark, `${mark} ${oneLine(target)} ${words}${value === undefined ? "" : `: ${shown(value)}`}`);
}

function changeLines({ kind, key, action, why, fields }: PlannedChange): readonly string[] {
  const [mark, words] = looks[action];
  const reason = why === undefined ? "" : `: ${oneLine(why)}`;
  return [
    paint(mark, `  ${mark} ${kind} ${key} ${words}${reason}`),
    ...fields.map((field) => {
      const own = { appears: "+", goes: "-", changes: "~" } as const;
      const line = `      ${own[field.does]} ${printable(field.path)}${valueText(field)}`;
      return paint(own[field.does], line);
    }),
  ];
}

function valueText({ does, before, after, hidden, allocated }: FieldChange): string {
  if (allocated) return ": chosen by the API server";
  if (hidden) return does === "changes" ? " differs" : "";
  if (does === "appears") return `: ${shown(after)}`;
  return does === "goes" ? `: ${shown(before)}` : `: ${shown(before)} -> ${shown(after)}`;
}

/** A longer value is cut: `--output json` has it whole. */
const longestValue = 120;

function shown(value: unknown): string {
  const text = printable(writeJson(value));
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

/** Most rows of the summary's tables. */
const mostRows = 10;

/** The summary of plans for all objects: how many change, and which kinds and fields change most. */
export function summaryLines(plans: readonly ObjectPlan[]): readonly string[] {
  const counts = { unchanged: 0, changed: 0, failed: 0 };
  for (const plan of plans) counts[resultOf(plan)] += 1;
  const objects = `${plans.length} objects: ${counts.unchanged} unchanged, ${counts.changed} changed, ${counts.failed} failed`;
  const changes = plans.flatMap((plan) => plan.changes.filter(({ action }) => action !== "nothing"));
  const actions = counted(changes.map(({ kind, action }) => `${kind} ${action}`));
  const fields = counted(
    changes
      .filter(({ action }) => action !== "create")
      .flatMap(({ kind, fields: each }) => each.map(({ path }) => `${kind} ${path}`)),
  );
  return [
    objects,
    ...(actions.length === 0 ? [] : ["", ...table(["KIND AND CHANGE", "TIMES"], actions)]),
    ...(fields.length === 0 ? [] : ["", ...table(["FIELD", "TIMES"], fields)]),
  ];
}

function counted(words: readonly string[]): readonly (readonly [string, string])[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rows = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return rows.slice(0, mostRows).map(([word, count]) => [word, String(count)]);
}
