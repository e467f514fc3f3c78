import { join } from "node:path";
import { type Build, built, cacheFolder } from "../../bridge/contenders/built.ts";
import { alone, type Command, type Peer } from "./peer.ts";

interface Compiled {
  readonly name: string;
  /** The folder of its sources in controllers/. */
  readonly folder: string;
  /** The build tool, which rebuilds only changes. `target` is the folder of its output. */
  readonly build: (target: string) => Pick<Build, "command" | "args" | "needs">;
  readonly run: (target: string) => Command;
}

/** A controller of one process that a build tool compiles. */
function compiled({ name, folder, build, run }: Compiled): Peer {
  const target = join(cacheFolder, "bench-peers", folder);
  return {
    name,
    async prepare(log) {
      log(`building the controller of ${name}, where it has changed`);
      const cwd = join(import.meta.dirname, "../controllers", folder);
      await built({ ...build(target), cwd, logFile: `${target}.log` });
      return alone(name, run(target));
    },
  };
}

export const kubeRs = compiled({
  name: "kube-rs",
  folder: "kube-rs",
  build: (target) => ({
    command: "cargo",
    args: ["build", "--release", "--locked", "--target-dir", target],
    needs: "Rust (https://rustup.rs)",
  }),
  run: (target) => ({ command: join(target, "release/bench-peers"), args: [] }),
});

export const javaOperatorSdk = compiled({
  name: "Java Operator SDK",
  folder: "java-operator-sdk",
  build: (target) => ({
    command: "mvn",
    args: ["--batch-mode", "--quiet", `-DbuildDirectory=${target}`, "package"],
    needs: "Java 17 and Maven",
  }),
  run: (target) => ({
    command: "java",
    args: ["-cp", `${target}/classes:${target}/dependency/*`, "dev.drover.bench.Main"],
  }),
});
