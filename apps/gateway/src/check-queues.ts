import { messageOf, type Milliseconds, namespaceOfQueue, queueDisplayName } from "@drover/controller";
import type { WorkQueue } from "@drover/queue";
import type { TenantRedis } from "@drover/runtime";
import type { Gateway } from "./gateway.ts";

/**
 * For readiness: pings every queue. If tenants' queues do not answer, it only returns a note: a tenant's Redis must not
 * make the gateway unready for the others.
 *
 * @throws if a queue in Drover's own Redis does not answer.
 */
export async function checkQueues(
  gateway: Pick<Gateway, "queues" | "notes">,
  { tenantOf }: Pick<TenantRedis, "tenantOf">,
  timeout: Milliseconds,
): Promise<{ readonly note: string } | undefined> {
  const queues = gateway.queues();
  const isMain = ({ controller }: WorkQueue): boolean => tenantOf(namespaceOfQueue(controller)) === undefined;
  await Promise.all(queues.filter(isMain).map((queue) => queue.ping(timeout)));
  const pinged = queues.filter((queue) => !isMain(queue)).map((queue) => notAnswering(queue, timeout));
  const notes = [...gateway.notes(), ...(await Promise.all(pinged)).flat()];
  return notes.length === 0 ? undefined : { note: notes.join("; ") };
}

/** The reason why a queue does not answer; empty if it does. */
const notAnswering = (queue: WorkQueue, within: Milliseconds): Promise<readonly string[]> =>
  queue.ping(within).then(
    () => [],
    (error: unknown) => [`the queue of ${queueDisplayName(queue.controller)}: ${messageOf(error)}`],
  );
