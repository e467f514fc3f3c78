import { join } from "node:path";
import { alone, type Peer } from "./peer.ts";
import { built } from "./built.ts";

const folder = join(import.meta.dirname, "../controllers/java-operator-sdk");
const target = join(import.meta.dirname, "../../../.cache/bench-peers/java-operator-sdk");

export const javaOperatorSdk: Peer = {
  name: "Java Operator SDK",
  async prepare(log) {
    log("building the controller of the Java Operator SDK, where it has changed");
    await built({
      command: "mvn",
      args: ["--batch-mode", "--quiet", `-DbuildDirectory=${target}`, "package"],
      cwd: folder,
      logFile: `${target}.log`,
      needs: "Java 17 and Maven",
    });
    const classes = `${join(target, "classes")}:${join(target, "dependency/*")}`;
    return alone("Java Operator SDK", { command: "java", args: ["-cp", classes, "dev.drover.bench.Main"] });
  },
};
