import { silentLog } from "@drover/controller";
import { ApiError, ConnectionError, type KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import type { PodStatus } from "./pod-status.ts";
import { parsePod } from "./pod.ts";
import { statusWriter } from "./status-writer.ts";

const metadata = { name: "p", namespace: "default", uid: "u", resourceVersion: "1" };
const object = { apiVersion: "v1", kind: "Pod", metadata, spec: {} };
const status = (phase: string): PodStatus => ({ phase, conditions: [] });

/** A writer with requests that end as `answer` does, and the statuses that it has sent. */
function writing(answer: (attempt: number) => Promise<undefined>) {
  const sent: unknown[] = [];
  const client: Pick<KubeClient, "patch"> = {
    async patch(_ref, _key, { body }) {
      sent.push("status" in body ? body.status : undefined);
      await answer(sent.length);
      return object;
    },
  };
  const { signal } = new AbortController();
  const writer = statusWriter({ client, pod: parsePod(object), log: silentLog, signal });
  return { writer, sent };
}

it("writes what has changed, and of what changes meanwhile only the last", async () => {
  const gate = Promise.withResolvers<undefined>();
  const { writer, sent } = writing(() => gate.promise);
  for (const phase of ["Pending", "Pending", "Running", "Failed"]) writer.write(status(phase));
  gate.resolve(undefined);
  await writer.flushed();
  writer.write(status("Failed"));
  await writer.flushed();
  expect(sent).toEqual([status("Pending"), status("Failed")]);
});

it("tries again where no answer came, and gives up on a pod that is gone", async () => {
  const gone = new ApiError({
    kind: "NotFound",
    status: 404,
    reason: "NotFound",
    serverMessage: "",
    request: "PATCH",
  });
  const { writer, sent } = writing((attempt) =>
    Promise.reject(attempt === 1 ? new ConnectionError("PATCH", "ECONNREFUSED", "refused") : gone),
  );
  writer.write(status("Running"));
  await writer.flushed();
  expect(sent).toEqual([status("Running"), status("Running")]);
});
