// From the words of a command line to the exit code of a task.
import { access } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stopped } from "./children.mjs";
import { Failure } from "./failure.mjs";
import { ensureInstalled } from "./install.mjs";
import { nearest } from "./nearest.mjs";
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
    const node = await nodeOfRepository();
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

/** The Node that the repository brings, or this one where it is new enough. */
async function nodeOfRepository() {
  const node = join(root, "node_modules/node/bin/node");
  try {
    await access(node);
    return node;
  } catch {
    if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
    throw new Failure(
      `There is no ${node}, which npm makes when it installs. Are install scripts off (npm config get ignore-scripts)? ` +
        "Run: npm rebuild node --ignore-scripts=false. Or install Node 24.",
    );
  }
}
