import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A promise that was broken. */
export interface Violation {
  /** An invariant, `I1` to `I18`, or a word. `HARNESS`: the harness contradicts itself. */
  readonly rule: string;
  readonly key?: string;
  readonly what: string;
}

/** Lines for the first violations, and how many more there are. */
export const violationLines = (violations: readonly Violation[]): readonly string[] => [
  ...violations.slice(0, 12).map(({ rule, key = "", what }) => `  ${rule} ${key} ${what}`),
  ...(violations.length > 12 ? [`  and ${violations.length - 12} more`] : []),
];

/** The keys that the violations name. */
export const violatedKeys = (violations: readonly Violation[]): ReadonlySet<string> =>
  new Set(violations.flatMap(({ key }) => key ?? []));

/** A line for an entry of an event log. */
export function factLine(fact: { readonly at: number; readonly fact: string }): string {
  const { at, fact: name, ...rest } = fact;
  return `  ${at.toFixed(1)} ${name} ${JSON.stringify(rest)}`;
}

/** The last lines of each log in a folder, after the last ten that name one of the keys. */
export const logLines = (folder: string, last: number, keys: ReadonlySet<string> = new Set()): string[] =>
  readdirSync(folder).flatMap((file) => {
    if (!file.endsWith(".log")) return [];
    const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
    const about = lines.filter((each) => [...keys].some((key) => each.includes(key)));
    return [...about.slice(-10), ...lines.slice(-last)].map((each) => `  ${file}: ${each.slice(0, 600)}`);
  });

/** Occurrences by name. */
export interface Counts<Name extends string> {
  readonly size: number;
  add(name: Name): void;
  /** `name count, ...`, in the order of the names. */
  listed(): string;
}

export function counts<Name extends string>(): Counts<Name> {
  const all = new Map<Name, number>();
  return {
    add: (name) => void all.set(name, (all.get(name) ?? 0) + 1),
    get size() {
      return all.size;
    },
    listed: () =>
      [...all]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([name, count]) => `${name} ${count}`)
        .join(", "),
  };
}
