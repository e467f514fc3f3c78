#!/usr/bin/env node
// Runs on whatever Node is found first; the command itself is TypeScript, which takes Node 24: this one, or the
// repository's own.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { nodeOf } from "../../../tools/bootstrap/node.mjs";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const node = await nodeOf().catch((error) => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
