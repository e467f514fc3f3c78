import { join } from "node:path";
import { built } from "./built.ts";
import { alone, type Peer } from "./peer.ts";

const folder = join(import.meta.dirname, "../controllers/kube-rs");
const target = join(import.meta.dirname, "../../../.cache/bench-peers/kube-rs");

export const kubeRs: Peer = {
  name: "kube-rs",
  async prepare(log) {
    log("building the controller of kube-rs, where it has changed");
    await built({
      command: "cargo",
      args: ["build", "--release", "--locked", "--target-dir", target],
      cwd: folder,
      logFile: `${target}.log`,
      needs: "Rust (https://rustup.rs)",
    });
    return alone("kube-rs", { command: join(target, "release/bench-peers"), args: [] });
  },
};
