import { join } from "node:path";
import { goProgram } from "../../bridge/contenders/go-program.ts";
import { alone, type Peer } from "./peer.ts";

const folder = join(import.meta.dirname, "../controllers/go");

/** The program that is each of them, by its argument. */
export const goPeers = (log: (line: string) => void): Promise<string> =>
  goProgram("bench-peers", folder, log);

const ofGo = (name: string): Peer => ({
  name,
  prepare: async (log) => alone(name, { command: await goPeers(log), args: [name] }),
});

export const controllerRuntime = ofGo("controller-runtime");
export const floor = ofGo("floor");
