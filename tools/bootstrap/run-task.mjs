// From the words of a command line to the exit code of a task.
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { stopped } from "./children.mjs";
import { Failure } from "./failure.mjs";
import { ensureInstalled } from "./install.mjs";
import { nearest } from "./nearest.mjs";
import { nodeOf } from "./node.mjs";
import { pythonProblem } from "./python.mjs";
import { tasks } from "./tasks.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** The exit code of `bootstrap.mjs TASK ...ARGS`. */
export async function runTask([name, ...args]) {
  const task = Object.hasOwn(tasks, name ?? "") ? tasks[name] : undefined;
  if (task === undefined) {
    console.error(unknown(name));
    return 2;
  }
  try {
    const python = task.needsPython(args) ? await pythonProblem() : undefined;
    if (python !== undefined) throw new Failure(python);
    await ensureInstalled(root);
    const node = await nodeOf(root);
    const env = { ...process.env, PATH: [dirname(node), process.env["PATH"]].join(delimiter) };
    return await task.run({ root, node, env, args });
  } catch (error) {
    if (stopped() !== undefined) return stopped();
    console.error(error instanceof Failure ? error.message : error);
    return 1;
  }
}

function unknown(name) {
  const names = Object.keys(tasks);
  const known = `The tasks are: ${names.join(", ")}.`;
  if (name === undefined) return `Which task? ${known}`;
  const meant = nearest(name, names);
  return `There is no task ${JSON.stringify(name)}. ${meant === undefined ? known : `Did you mean ${meant}?`}`;
}
