import type { Container, Project } from "./containers.ts";

const program = `const { readFileSync } = require("node:fs");
const status = readFileSync("/proc/1/status", "utf8");
const of = (name) => status.match(new RegExp("^" + name + ":\\\\s+(.*)$", "m"))[1];
const root = readFileSync("/proc/1/mounts", "utf8").split("\\n").map((line) => line.split(" ")).find(([, path]) => path === "/");
console.log(of("Uid").split("\\t")[0] !== "0", of("CapEff"), of("CapBnd"), of("NoNewPrivs"), root[3].split(",")[0]);`;
const locked = "true 0000000000000000 0000000000000000 1 ro";

/**
 * Rejects unless the process of a container is not root, has no capability, cannot gain one, and has a read-only root.
 */
export async function expectLocked(project: Project, container: Container): Promise<void> {
  const answer = (await project.exec(container, "node", "-e", program)).trim();
  if (answer !== locked) throw new Error(`${container.name}: ${answer}, should be ${locked}.`);
}
