#!/usr/bin/env node
// This file must be readable for a Node that is too old; the command itself needs a newer one.
const LEAST = 24;

if (Number(process.versions.node.split(".")[0]) < LEAST) {
  console.error(
    `error: Drover needs Node ${LEAST} or newer, and this is ${process.versions.node}. Install it: https://nodejs.org`,
  );
  process.exitCode = 1;
} else {
  await import("../src/main.ts");
}
