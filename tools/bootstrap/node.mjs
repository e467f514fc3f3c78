// The Node of the repository. It comes as an optional package for each system, of which npm installs the one that fits;
// package-lock.json has the hash of each.
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { Failure } from "./failure.mjs";

/** The oldest Node release with the TypeScript support and the library that the sources use. */
const LEAST = 24;

/**
 * The repository's Node; this one where there is no package for the system and it is new enough.
 *
 * @throws Failure with what to install.
 */
export async function nodeOf(root) {
  const system = `${process.platform}-${process.arch}`;
  const node = join(root, `node_modules/node-${system}/bin/node`);
  if (await runs(node)) return node;
  if (Number(process.versions.node.split(".")[0]) >= LEAST) return process.execPath;
  const name = `node-${system}`;
  throw new Failure(
    `Drover runs on Node ${LEAST}, and this is ${process.versions.node}. npm brings Node ${LEAST} as ${name}, ` +
      `but ${dirname(node)} has no node that runs. Run: npm ci --include=optional. If package.json does not name ` +
      `${name}, there is none for this system: install Node ${LEAST} (https://nodejs.org) and start again.`,
  );
}

/** A Node that was built for another C library is there, and does not run. */
const runs = (node) =>
  new Promise((resolve) => execFile(node, ["--version"], (error) => resolve(error === null)));
