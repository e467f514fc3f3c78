import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ability } from "./subject.ts";

const root = new URL("../../..", import.meta.url).pathname;
const examples = join(root, "examples");

export type Example = "greetings" | "website";

interface Language {
  readonly name: string;
  /** Commands that must be there, with their least version if that matters: "cargo 1.91". */
  readonly needs: readonly string[];
  /** Number of mutants that each of its functions gets: some start a process for each. */
  readonly mutants: number;
  /** When it notices a changed secret. With a memory, it keeps the last secrets that could be read. */
  readonly rereads: "at once" | "at once, without a memory" | "within seconds";
  /** Abilities that its package does not have, and why. */
  readonly lacks?: Readonly<Partial<Record<Ability, string>>>;
  /** Builds an example into a folder. */
  readonly build?: (example: Example, into: string) => void;
  /** The command that starts an example. */
  readonly command: (example: Example, folder: string) => readonly string[];
}

const rustTarget = join(root, ".cache/rust");
/**
 * Environment variables of builds. Their output is not in the tree, and shared by all packages of a language, so that
 * dependencies are built once.
 */
export const buildVariables = [
  `CARGO_TARGET_DIR=${rustTarget}`,
  // Takes most of the disk, and is for debuggers.
  "CARGO_PROFILE_DEV_DEBUG=0",
];
/** The names that the examples have as packages in Rust and Java. */
const packageNames = { greetings: "greetings", website: "publisher" } as const;

const javaOutput = join(root, ".cache/java");
/** Maven, one at a time: it locks neither its output nor its downloads. */
export const maven = [
  ...["flock", join(root, ".cache/java.lock"), "mvn", "--batch-mode", "--strict-checksums"],
  `-Doutput=${javaOutput}`,
];
/** Maven has no lock file, so the jars are compared with a list before any of them runs. */
function checkJars(folder: string): void {
  const list = join(root, "sdk/java/jars.sha256");
  const named: readonly string[] = readFileSync(list, "utf8").match(/\S+\.jar$/gm) ?? [];
  const others = readdirSync(folder).filter((jar) => !named.includes(jar) && !jar.startsWith("drover-"));
  if (others.length > 0) throw new Error(`${list} lacks ${others.join(", ")}`);
  execFileSync("sha256sum", ["--check", "--strict", "--quiet", list], { cwd: folder });
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
    name: "rust",
    needs: ["cargo 1.91"],
    mutants: 1_000,
    rereads: "at once",
    build: (example, into) => {
      const cwd = join(examples, "rust", example);
      execFileSync("env", [...buildVariables, "cargo", "build", "--locked", "--quiet"], { cwd });
      // The next build may replace it.
      copyFileSync(join(rustTarget, "debug", packageNames[example]), join(into, example));
    },
    command: (example, folder) => [join(folder, example)],
  },
  {
    name: "java",
    needs: ["javac 17", "mvn", "flock", "sha256sum"],
    mutants: 300,
    rereads: "at once",
    build: (example, into) => {
      const [program, ...args] = [...maven, "--quiet", "package", "-DskipTests"];
      const cwd = join(examples, "java");
      execFileSync(program, [...args, "--projects", example, "--also-make"], { cwd });
      // The next build may replace them.
      const built = join(into, `built-${example}`);
      cpSync(join(javaOutput, packageNames[example]), built, { recursive: true });
      checkJars(join(built, "lib"));
    },
    command: (example, folder) => [
      ...["java", "-jar", join(folder, `built-${example}`, `${packageNames[example]}.jar`)],
    ],
  },
  {
    name: "shell",
    needs: ["bash", "openssl", "jq", "perl", "flock"],
    mutants: 50,
    rereads: "at once, without a memory",
    lacks: {
      "many strangers": "it has 32 connections, and each has 10 s",
      "integers of 64 bits": "jq 1.6 rounds them",
    },
    command: (example, folder) => [
      ...["env", `DROVER_STATE=${folder}/state-of-${example}`],
      ...[join(root, "sdk/shell/serve.pl"), join(examples, `shell/${example}.sh`)],
    ],
  },
];

/** True if a command is there, and has at least the version that may follow its name: "cargo 1.91". */
export function isThere(need: string): boolean {
  const [command = "", least = ""] = need.split(" ");
  try {
    execFileSync("sh", ["-c", `command -v ${command}`]);
    if (least === "") return true;
    const [version = ""] = /\d+(\.\d+)*/.exec(execFileSync(command, ["--version"]).toString()) ?? [];
    return version.localeCompare(least, "en", { numeric: true }) >= 0;
  } catch {
    return false;
  }
}
