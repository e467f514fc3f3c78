import { type Log, objectKey } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { pause } from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import type { Pod } from "./pod.ts";
import type { PodStatus } from "./pod-status.ts";

/** Writes one pod's status, one request at a time: what changes meanwhile is written together, what does not is not. */
export interface StatusWriter {
  /** Says what holds now. */
  say(status: PodStatus): void;
  /** Resolves when what was said last is written, or cannot be. */
  written(): Promise<void>;
}

export interface WriterParts {
  readonly client: Pick<KubeClient, "patch">;
  readonly pod: Pod;
  readonly log: Log;
  /** Nothing is tried again from then on. */
  readonly signal: AbortSignal;
}

const again = 200;

export function statusWriter({ client, pod, log, signal }: WriterParts): StatusWriter {
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
        // Gone, or another pod of that name: nobody is left to be told.
        if (isApiError(error, "NotFound", "Conflict")) break;
        log.warn({ pod: key, err: error }, "Could not write a pod's status");
        if (signal.aborted || isApiError(error, "Invalid")) break;
        await pause(again, signal);
      }
    }
    writing = undefined;
  };
  return {
    say(status) {
      wanted = status;
      if (isNews()) writing ??= write();
    },
    written: () => writing ?? Promise.resolve(),
  };
}
