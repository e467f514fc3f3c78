/**
 * # @drover/cli
 *
 * The `drover` command. `bin/drover.mjs` runs it, if Node is recent enough.
 *
 * - `drover init`: creates a new function from `init/template`, which is itself a function with tests.
 * - `drover dev`: runs a function on this machine while its author changes it. `dev/start-dev.ts` has the order of steps;
 *   `dev/cluster/` takes objects of a given cluster from the deployed function.
 * - `drover generate`: writes a function's CRD, ReconcileFunction and Dockerfile, from the module that exports it.
 * - `drover deploy`: applies them. `deploy/deploy.ts` has the order of steps.
 * - `drover plan`: shows what a run would do. `plan/plan-object.ts` runs the function with a client that stores nothing.
 * - `drover status`, `drover why`: show the state of functions, and explain why an object runs or does not.
 *   `why/key-facts.ts` collects the facts, `why/explanation.ts` turns them into a sentence.
 * - `drover list`, `history`, `retry`, `pause`, `resume`: show and steer a function's queue (`operate/`).
 * - `drover test`: runs a function's scenarios in one process, also with faults (@drover/testing).
 * - `drover faults`: runs a command behind a proxy that injects the faults of a plan (@drover/testing/fault-proxy).
 */
export { droverCommand } from "./drover-command.ts";
