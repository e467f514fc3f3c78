import { join } from "node:path";
import { goProgram } from "../../bridge/contenders/go-program.ts";
import { alone, type Peer } from "./peer.ts";

const folder = join(import.meta.dirname, "../controllers/go");

const ofGo = (name: string): Peer => ({
  name,
  prepare: async (log) => alone(name, { command: await goProgram("bench-peers", folder, log), args: [name] }),
});

export const controllerRuntime = ofGo("controller-runtime");
export const floor = ofGo("floor");
