/** The only door to Stryker, which finds the places in a file where one thing can be replaced by another. */
import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

/** One change of a file. */
export type Mutant = z.output<typeof mutantSchema>;
export const mutantSchema = z.object({
  /** Within the repository. */
  file: z.string(),
  line: z.number(),
  /** Stryker's name for the kind of change. */
  mutator: z.string(),
  /** Offsets in the file. */
  start: z.number(),
  end: z.number(),
  original: z.string(),
  replacement: z.string(),
});

const positionSchema = z.object({ line: z.number(), column: z.number() });
const resultSchema = z.object({
  mutants: z.array(
    z.object({
      mutatorName: z.string(),
      replacement: z.string(),
      location: z.object({ start: positionSchema, end: positionSchema }),
    }),
  ),
});
type Instrumenter = new (logger: object) => {
  instrument(files: readonly object[], options: object): Promise<unknown>;
};
const moduleSchema = z.object({
  Instrumenter: z.custom<Instrumenter>((value) => typeof value === "function"),
});

/** Finds the mutants of a file; text for people is left out. */
export type FindMutants = (file: string, text: string) => Promise<readonly Mutant[]>;

/**
 * Installs Stryker into this folder unless it is there. It is not among the repository's own packages, for it would make
 * their tree a fifth larger for every user; so it is not there for the compiler, either, and its interface is stated here.
 */
export async function openStryker(): Promise<FindMutants> {
  const entry = join(import.meta.dirname, "node_modules/@stryker-mutator/instrumenter/dist/src/index.js");
  await access(entry).catch(() =>
    promisify(execFile)("npm", ["ci", "--loglevel=error"], { cwd: import.meta.dirname }),
  );
  const { Instrumenter } = moduleSchema.parse(await import(entry));
  const stryker = new Instrumenter(SILENT);
  return async (file, text) => {
    const files = [{ name: file, mutate: true, content: text }];
    const options = { plugins: null, excludedMutations: [], ignorers: [] };
    const { mutants } = resultSchema.parse(await stryker.instrument(files, options));
    const lines = lineStarts(text);
    const offset = ({ line, column }: z.infer<typeof positionSchema>): number => (lines[line] ?? 0) + column;
    return mutants
      .map(({ mutatorName, replacement, location }): Mutant => {
        const [start, end] = [offset(location.start), offset(location.end)];
        return {
          file,
          line: location.start.line + 1,
          mutator: mutatorName,
          start,
          end,
          original: text.slice(start, end),
          replacement,
        };
      })
      .filter((mutant) => !isForPeople(mutant));
  };
}

/** The file with the change in it. Stryker replaces nodes, and only these bind less tightly than what they replace. */
export function mutated(text: string, { start, end, mutator, replacement }: Mutant): string {
  const inserted = mutator === "LogicalOperator" ? `(${replacement})` : replacement;
  return text.slice(0, start) + inserted + text.slice(end);
}

/**
 * Text with a space in it is read by people (logs, errors, help), or is a whole script in Lua, which has mutants of its
 * own (`npm run mutants`). Tests of its words would only repeat them.
 */
const isForPeople = ({ mutator, original }: Mutant): boolean =>
  mutator === "StringLiteral" && /\s/.test(original);

const lineStarts = (text: string): readonly number[] => [
  0,
  ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1),
];

const LEVELS = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal"];
const SILENT: Readonly<Record<string, () => unknown>> = Object.fromEntries(
  LEVELS.flatMap((level) => [
    [level.toLowerCase(), (): unknown => undefined],
    [`is${level}Enabled`, (): unknown => false],
  ]),
);
