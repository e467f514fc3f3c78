/**
 * # @drover/cli
 *
 * The `drover` command. `bin/drover.mjs` runs it with a recent enough Node.
 *
 * - `drover init`: creates a new function from `init/template`, which is itself a function with tests.
 * - `drover generate`: writes a function's CRD, ReconcileFunction and Dockerfile, from the module that exports it.
 * - `drover deploy`: applies them. `deploy/deploy.ts` has the order of steps.
 * - `drover status`, `drover why`: show the state of functions, and explain why an object runs or does not.
 *   `why/key-facts.ts` collects the facts, `why/explanation.ts` turns them into a sentence.
 * - `drover list`, `history`, `retry`, `pause`, `resume`: show and steer a function's queue (`operate/`).
 * - `drover test`: runs a function's scenarios in one process, also with faults (@drover/testing).
 * - `drover faults`: runs a command behind a proxy that injects the faults of a plan (@drover/fault-proxy).
 * - `drover start` (`npm start`): a demo on this machine in which a Bucket object becomes a bucket. It starts the
 *   servers that are not given (an API server, a Redis, an S3 server), the bridge, and the bucket function: as a Pod of
 *   the deployer's on its own API server, as a local process for a given cluster. It applies `examples/bucket.yaml`,
 *   and reports each change of Bucket objects until Ctrl-C.
 *
 * `start/start.ts` has the order of steps. It uses `run-folder` (files of a run, and the lock that permits one run at a
 * time), `servers` (`api-server` and `cluster`, `redis`, `s3`), `kept-process` (a process that is restarted when it
 * dies), `drover-processes`, `deploy-bucket-function`, `watch-buckets` with `bucket-story` and `pod-story` (the
 * differences between two states of an object, as sentences), `s3-follower`, `narrator` (formats lines), `next-steps`,
 * and `closing` (stops everything, in order).
 */
export { droverCommand } from "./drover-command.ts";
