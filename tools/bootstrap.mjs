// The program of every npm script of this repository, straight after `git clone` and with whatever Node is there: it looks
// at the Node version, installs what package-lock.json asks for when that is not so yet, and hands over to the task
// under the Node of the repository. This file must be readable for a Node that is too old; the rest is in bootstrap/.
import process from "node:process";

const LEAST = 20;

if (Number(process.versions.node.split(".")[0]) < LEAST) {
  console.error(
    "Drover needs Node " +
      LEAST +
      " or newer, and this is " +
      process.versions.node +
      ". Install a newer one: https://nodejs.org",
  );
  process.exitCode = 1;
} else {
  import("./bootstrap/run-task.mjs").then(async ({ runTask }) => {
    process.exitCode = await runTask(process.argv.slice(2));
  });
}
