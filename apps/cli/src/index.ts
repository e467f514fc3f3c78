/**
 * # @drover/cli
 *
 * The `drover` command (`bin/drover.mjs`, which finds a Node that is new enough):
 *
 * - `drover init`: a new function, from `init/template`, which is a function of its own and tested like one.
 * - `drover generate`: a function's CRD, ReconcileFunction and Dockerfile, from the module that exports it.
 * - `drover deploy`: applies them. `deploy/deploy.ts` is the order of things.
 * - `drover status`, `drover why`: what there is to do, and why an object runs or does not. `why/key-facts.ts` finds out,
 *   `why/explanation.ts` says it in a sentence.
 * - `drover test`: a function's life in one process, and its faults (@drover/testing).
 * - `drover faults`: a command behind a proxy that lets go wrong what a plan says (@drover/fault-proxy).
 * - `drover start` (`npm start`): everything that it takes to see a Bucket object become a bucket, on this machine.
 *   It starts what is not given (an API server, a Redis, an S3 server), the bridge, and the bucket function: as a Pod
 *   of the deployer's on an API server of its own, as a process beside somebody's cluster. It applies
 *   `examples/bucket.yaml`, and tells in plain words what happens to Bucket objects until Ctrl-C.
 *
 * `start/start.ts` is the order of things. Around it, file by file: `run-folder` (one run at a time, and where its
 * files are), `servers` (`api-server` and `cluster`, `redis`, `s3`), `kept-process` (a process that is started again when
 * it dies), `drover-processes`, `deploy-bucket-function`, `watch-buckets` with `bucket-story` and `pod-story` (from two
 * looks at an object to sentences), `s3-follower`, `narrator` (how lines look), `next-steps`, `closing` (the end, in order).
 */
export { droverCommand } from "./drover-command.ts";
