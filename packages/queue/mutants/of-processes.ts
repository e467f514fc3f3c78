import { mutants, type Mutant } from "./mutant.ts";

/** Mutants of the code around the scripts, in bridges and workers. */
export const mutantsOfProcesses: readonly Mutant[] = [
  ...mutants(
    "law",
    `
bullmq/bullmq-job-queue.ts

job-2: a job has three attempts
- attempts: 1, removeOnComplete
+ attempts: 3, removeOnComplete
`,
  ),
  ...mutants(
    "processes",
    `
bullmq/bullmq-job-queue.ts

job-1: a key's next job has the same id
- .slice(0, 16)}-\${number}\`
+ .slice(0, 16)}\`

worker/dispatcher.ts

job-3: lost jobs are not added again
- if (!waiting.has(job)) await ledger.dispatchAgain(job)
+ if (waiting.has(job)) await ledger.dispatchAgain(job)

worker/runner.ts

job-5: a failed run completes its job
- throw new RunFailedError(run.key, outcome.error)
+ return undefined

bullmq/bullmq-job-queue.ts

job-5: a chained run fails another key's job
- await job.updateData({ key: error.key })
+ await Promise.resolve()

worker/worker.ts

job-7: one job leads to runs without end
- runner.run(leased, runsPerJob)
+ runner.run(leased, Infinity)

worker/runner.ts

stop-1: a worker that stops gets more keys chained
- failed || this.#draining || !mayChain
+ failed || !mayChain

stop-2: a run that is claimed too late is not stopped
-     if (this.#stopReason) stop.abort(this.#stopReason); // while this key was on its way

stop-2: a run that was stopped before it began begins
-   if (signal.aborted) return abortOutcome(signal.reason);

bullmq/bullmq-job-queue.ts

stop-4: a worker that stops waits for a connection that never ends
- processing === 0 && idle.resolve(undefined)
+ undefined

worker/dispatcher.ts

stop-3: a worker that stops keeps its slots
- slots: busy(), version: 0
+ version: 0

stop-3: a worker that stops holds older versions back
- slots: busy(), version: 0
+ slots: busy()

worker/worker.ts

job-4: a refused job fails
- if (answer.refused !== "slot taken") {
+ if (answer.refused !== "slot taken") {
+       throw new Error(answer.refused);

worker/slots.ts

claim-1: a worker has one token
- const token = this.#parts.newId();
-     const isOneMore
+ const token = String(process.pid);
+     const isOneMore

worker/lease-keeper.ts

claim-6: leases are not renewed
- if (++turns % 2 === 0) void renew();
+ turns++;

claim-6: a run whose lease ended goes on
-     one.lose(new LeaseLostError(
+     void (new LeaseLostError(

worker/runner.ts

settle-14: a hanging run keeps its slot
- abandoned.resolve(abortOutcome(signal.reason))
+ undefined

settle-14: a run may take for ever
- stop.abort(
-       new RunTimeoutError(
+ void (
+       new RunTimeoutError(

settle-14: a run that hangs still writes
-     lease.release();

dispatch-1: the dispatcher is not woken for a timer
- if (answer.dueIn !== undefined) dispatcher.expectDueIn(answer.dueIn);

work-queue/ledger-work-queue.ts

server-5: a new incarnation is not reported
-     parts.onIncarnation?.(incarnation);

worker/lease-keeper.ts

server-6: a run writes though the ledger is silent
- timers.now() < endsAt(one) && isRecent(one)
+ timers.now() < endsAt(one)

server-9: a run that announced itself late goes on
- announced.has(one.token) && one.announcedIn !== answer.incarnation && !isRecent(one)
+ false

work-queue/ledger-work-queue.ts

wake-7: a wake that is refused is forgotten
- if (!retry) throw error;
+ if (refused === 0) throw error;
`,
  ),
  ...mutants(
    "ledger",
    `
ledger/rules/answer.lua

server-7: a newer ledger is written to
- (tonumber(control.schema) or SCHEMA) > SCHEMA
+ false

server-1: no script looks at the server
- if control.server ~= server or
+ if not control.server or

server-1: a ledger that lost its own mark is not looked at
- or not control.incarnation then
+ then

ledger/redis-ledger.ts

server-8: a foreign member stops the dispatch
- if (key === undefined) await discarded(member);
+ if (key === undefined) throw new Error(member);
`,
  ),
];
