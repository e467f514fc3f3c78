import { spawnTied } from "@drover/local-servers";
import { join } from "node:path";
import { lastLinesOf } from "../../bridge/contenders/last-lines.ts";
import { alone, type Peer } from "./peer.ts";

const folder = join(import.meta.dirname, "../controllers/kube-rs");
const target = join(import.meta.dirname, "../../../.cache/bench-peers/kube-rs");

/** Cargo itself knows what there is to build: nothing, as a rule. */
async function build(): Promise<string> {
  const cargo = await spawnTied({
    ...{ name: "cargo build", command: "cargo", cwd: folder },
    args: ["build", "--release", "--locked", "--target-dir", target],
    logFile: `${target}.log`,
  });
  const { code } = await cargo.exited;
  if (code !== 0)
    throw new Error(`It needs Rust (https://rustup.rs). Cargo said:\n${await lastLinesOf(cargo.logFile)}`);
  return join(target, "release/bench-peers");
}

export const kubeRs: Peer = {
  name: "kube-rs",
  async prepare(log) {
    log("building the controller of kube-rs, where it has changed");
    return alone("kube-rs", { command: await build(), args: [] });
  },
};
