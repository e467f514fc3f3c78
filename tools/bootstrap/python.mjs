import { execFile } from "node:child_process";

/** Why Python cannot be used, and what to do; undefined when it can. */
export function pythonProblem() {
  return new Promise((resolve) => {
    execFile("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"], (error) =>
      resolve(error === null ? undefined : problemOf(error)),
    );
  });
}

function problemOf(error) {
  const what =
    error.code === "ENOENT"
      ? "python3 is not on PATH"
      : error.code === 1
        ? "the python3 on PATH is older than 3.10"
        : "the python3 on PATH does not run";
  return (
    `The servers that this runs on need Python: ${what}. Install Python 3.10 or newer with pip ` +
    "(Debian, Ubuntu: apt install python3 python3-pip; Fedora: dnf install python3-pip; macOS: brew install python)."
  );
}
