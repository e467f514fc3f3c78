import { ensurePythonTool } from "@drover/local-servers";
import { join } from "node:path";
import { alone, type Peer } from "./peer.ts";

const folder = join(import.meta.dirname, "../controllers/kopf");

export const kopf: Peer = {
  name: "Kopf",
  async prepare() {
    const requirements = join(folder, "requirements.txt");
    const packages = await ensurePythonTool({ name: "kopf", requirements, runsInPython: true });
    return alone("Kopf", {
      command: "python3",
      args: ["-m", "kopf", "run", "--standalone", "--all-namespaces", join(folder, "controller.py")],
      env: { PYTHONPATH: packages },
    });
  },
};
