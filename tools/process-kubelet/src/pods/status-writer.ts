import { sleepUnlessAborted } from "@drover/timers";
import { type Log, objectKey } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import type { NodePod } from "./pod.ts";
import type { PodStatus } from "./pod-status.ts";

/** Writes one pod's status, one request at a time: what changes meanwhile is written together, what does not is not. */
export interface StatusWriter {
  /** Sets the current status. */
  write(status: PodStatus): void;
  /** Resolves when the last status is written, or cannot be. */
  flushed(): Promise<void>;
}

export interface StatusWriterOptions {
  readonly client: Pick<KubeClient, "patch">;
  readonly pod: NodePod;
  readonly log: Log;
  /** Nothing is tried again from then on. */
  readonly signal: AbortSignal;
}

const retryDelay = 200;

export function statusWriter({ client, pod, log, signal }: StatusWriterOptions): StatusWriter {
  const { namespace, name, uid } = pod;
  const key = objectKey({ namespace, name });
  let wanted: PodStatus | undefined;
  let last: PodStatus | undefined;
  let writing: Promise<void> | undefined;
  const isNews = (): boolean => !isDeepStrictEqual(wanted, last);
  const write = async (): Promise<void> => {
    while (wanted !== undefined && isNews()) {
      const status = wanted;
      try {
        const body = { metadata: { uid }, status };
        await client.patch(builtin.pod, key, { type: "merge", body }, { subresource: "status" });
        last = status;
      } catch (error) {
        // Gone, or another pod of that name.
        if (isApiError(error, "NotFound", "Conflict")) break;
        log.warn({ pod: key, err: error }, "Could not write a pod's status");
        if (signal.aborted || isApiError(error, "Invalid")) break;
        await sleepUnlessAborted(retryDelay, signal);
      }
    }
    writing = undefined;
  };
  return {
    write(status) {
      wanted = status;
      if (isNews()) writing ??= write();
    },
    flushed: () => writing ?? Promise.resolve(),
  };
}
