#!/usr/bin/env node
// Runs on whatever Node is found first; the command itself is TypeScript, which takes Node 24: this one, or the
// repository's own.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const inRepository = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const isNewEnough = Number(process.versions.node.split(".")[0]) >= 24;
const own = inRepository("node_modules/node/bin/node");
if (!isNewEnough && !existsSync(own)) {
  console.error(
    `error: drover takes Node 24, and this is ${process.versions.node}. Install it, or run npm install in the repository.`,
  );
  process.exit(1);
}
const words = [inRepository("apps/cli/src/main.ts"), ...process.argv.slice(2)];
const child = spawn(isNewEnough ? process.execPath : own, words, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
