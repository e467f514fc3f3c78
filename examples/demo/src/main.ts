/**
 * # The demo of `npm start`
 *
 * A Bucket object becomes a bucket, on this machine. The demo starts the servers that are not given (an API server, a
 * Redis, an S3 server), the bridge, and the bucket function: as a Pod of the deployer's on its own API server, as a local
 * process for a given cluster. It applies `examples/bucket.yaml`, and reports each change of Bucket objects until Ctrl-C.
 *
 *   start.ts         the order of steps
 *   run-folder.ts    the files of a run, and the lock that permits one run at a time
 *   servers/         the API server, Redis, the S3 server
 *   processes/       Drover's processes: supervised-process.ts restarts one that has ended; or a Pod of the bucket function
 *   story/           what is printed: the differences between two states of an object, as sentences
 *   close-in-order   stops everything, in order
 */
import { errorText } from "@drover/controller";
import { demoCommand } from "./demo-command.ts";

try {
  await demoCommand().parseAsync();
} catch (error) {
  const { fileProblem } = await import("@drover/runtime");
  const problem = fileProblem(error);
  console.error(problem === undefined ? errorText(error) : `error: ${problem}`);
  process.exitCode = 1;
}
