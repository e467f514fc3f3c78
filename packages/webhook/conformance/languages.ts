import { execFileSync } from "node:child_process";
import { join } from "node:path";

const root = new URL("../../..", import.meta.url).pathname;
const examples = join(root, "examples");

export type Example = "greetings" | "website";

interface Language {
  readonly name: string;
  /** Commands that must be there. */
  readonly needs: readonly string[];
  /** Number of mutants that each of its functions gets: some start a process for each. */
  readonly mutants: number;
  /** When it notices a changed secret. With a memory, it keeps the last secrets that could be read. */
  readonly rereads: "at once" | "at once, without a memory" | "within seconds";
  /** Builds an example into a folder. */
  readonly build?: (example: Example, into: string) => void;
  /** The command that starts an example. */
  readonly command: (example: Example, folder: string) => readonly string[];
}

const pythonPath = `PYTHONPATH=${join(root, "sdk/python")}`;

/** The languages that have examples. A test skips those whose toolchain is missing. */
export const languages: readonly Language[] = [
  {
    name: "typescript",
    needs: ["node"],
    mutants: 1_000,
    rereads: "within seconds",
    command: (example) => [
      process.execPath,
      join(examples, "typescript", example === "greetings" ? "main.ts" : "serve-website.ts"),
    ],
  },
  {
    name: "python",
    needs: ["python3"],
    mutants: 1_000,
    rereads: "at once",
    command: (example) => [
      ...["env", pythonPath, "python3"],
      join(examples, "python", example === "greetings" ? "greetings.py" : "website/function.py"),
    ],
  },
  {
    name: "go",
    needs: ["go"],
    mutants: 1_000,
    rereads: "at once",
    build: (example, into) => {
      const flags = ["-mod=readonly", "-trimpath", "-o", join(into, example)];
      execFileSync("go", ["build", ...flags, "."], { cwd: join(examples, "go", example) });
    },
    command: (example, folder) => [join(folder, example)],
  },
  {
    name: "shell",
    needs: ["bash", "openssl", "jq", "perl", "flock"],
    mutants: 50,
    rereads: "at once, without a memory",
    command: (example, folder) => [
      ...["env", `DROVER_STATE=${folder}/state-of-${example}`],
      ...[join(root, "sdk/shell/serve.pl"), join(examples, `shell/${example}.sh`)],
    ],
  },
];

export const isThere = (command: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${command}`]);
    return true;
  } catch {
    return false;
  }
};
