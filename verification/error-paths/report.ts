import type { ErrorPath } from "../mutation/probes.ts";

/** A path that is run after an error. */
export interface Path {
  readonly file: string;
  readonly line: number;
  readonly kind: ErrorPath;
  /** The line that it begins on. */
  readonly code: string;
  /** How many test files take it. */
  readonly takenBy: number;
}

const isTaken = ({ takenBy }: Path): boolean => takenBy > 0;
const isOpen = (path: Path): boolean => !isTaken(path);

/** The last line of the command. */
export const summary = (paths: readonly Path[]): string =>
  `${paths.length} error paths: ${paths.filter(isTaken).length} taken by a test, ` +
  `${paths.filter(isOpen).length} by none`;

/** The content of results.md. */
export function report(paths: readonly Path[]): string {
  const folders = [...new Set(paths.map(folderOf))];
  const table = (of: readonly Path[], why: (path: Path) => string): readonly string[] => [
    "| path | kind | code | |",
    "| --- | --- | --- | --- |",
    ...of.map((path) => `| ${path.file}:${path.line} | ${path.kind} | ${code(path.code)} | ${why(path)} |`),
  ];
  return [
    "# Paths after an error, and whether a test takes them",
    "",
    "<!-- Written by npm run error-paths. -->",
    "",
    `${summary(paths)} (\`npm test\`; real API servers and pods are not counted).`,
    "",
    "| package | error paths | taken by a test | by none |",
    "| --- | --: | --: | --: |",
    ...folders.map((folder) =>
      row(
        folder,
        paths.filter((path) => folderOf(path) === folder),
      ),
    ),
    "",
    "## Taken by no test",
    "",
    ...table(paths.filter(isOpen), () => ""),
    "",
    "## Taken by a test",
    "",
    ...table(paths.filter(isTaken), ({ takenBy }) => `${takenBy} test files`),
    "",
  ].join("\n");
}

const folderOf = ({ file }: Path): string => file.split("/").slice(0, 2).join("/");

const row = (folder: string, paths: readonly Path[]): string =>
  `| ${[folder, paths.length, ...[isTaken, isOpen].map((is) => paths.filter(is).length)].join(" | ")} |`;

const code = (line: string): string => `\`\` ${line.replaceAll("|", "\\|").slice(0, 100)} \`\``;
