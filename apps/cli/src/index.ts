/**
 * # @drover/cli
 *
 * The `drover` command. One subcommand so far:
 *
 * - `drover start` (`npm start`): everything that it takes to see a Bucket object become a bucket, on this machine.
 *   It starts what is not given (an API server, a Redis, an S3 server), the bridge and the bucket function as processes
 *   of their own, applies `examples/bucket.yaml`, and tells in plain words what happens to Bucket objects until Ctrl-C.
 *
 * `start/start.ts` is the order of things. Around it, file by file: `run-folder` (one run at a time, and where its
 * files are), `servers`, `api-server`, `kept-process` (a process that is started again when it dies),
 * `drover-processes`, `install`, `watch-buckets` with `bucket-story` (from two looks at an object to sentences),
 * `narrator` (how lines look), `next-steps`, `closing` (the end, in order).
 */
export { droverCommand } from "./drover-command.ts";
