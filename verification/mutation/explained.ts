import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";

/** A change that no test can notice, or that none should be written for. */
interface Explained extends Pick<Mutant, "file" | "original" | "replacement"> {
  /** The line of code up to the change, where the file has the same text elsewhere, too. */
  readonly behind?: string;
  readonly reason: string;
}

/** Changes that one reason excuses, by their files: the same comes in the place of each. */
const alike = (replacement: string, reason: string, originals: Readonly<Record<string, string>>) =>
  Object.entries(originals).map(([file, original]): Explained => ({ file, original, replacement, reason }));

const EXPLAINED: readonly Explained[] = [
  ...alike('""', "Names a part in the log line about its failed close.", {
    "apps/bridge/src/main.ts": '"lease"',
    "apps/gateway/src/main.ts": '"completions"',
  }),
  ...alike('""', "A name for people; the class is what the code looks at.", {
    "packages/queue/src/worker/job-queue.ts": '"RunFailedError"',
    "packages/bridge/src/registration/invalid-registration.ts": '"InvalidRegistrationError"',
    "packages/webhook/src/message-refused.ts": '"MessageRefusedError"',
    "packages/kube/src/objects/read-secret.ts": '"SecretError"',
  }),
  ...alike("{}", "Fields of a log line.", {
    "packages/runtime/src/worker/resolve-identity.ts": "{ function: key }",
    "packages/runtime/src/run/reconcile-once.ts":
      "{ key: run.key, verdict: failure.outcome.kind, err: error }",
    "packages/runtime/src/webhook/webhook-handler.ts": "{ key: call.key, err: error }",
    "packages/bridge/src/registration/follow-status.ts": "{ err: error, function: key }",
  }),
  ...alike("() => undefined", "Only logs.", {
    "packages/bridge/src/hooks/open-hooks.ts":
      '(error) => warn("error", { err: error }, "An event could not be processed")',
    "apps/deployer/src/redis/function-queues.ts":
      '(error: unknown): void =>\n    log.warn({ err: error }, "Could not close the queue of a function")',
  }),
  ...alike('""', "The name of the process in its log.", {
    "functions/replicaset/src/main.ts": '"replicaset"',
    "functions/deployment/src/main.ts": '"deployment"',
    "functions/s3-bucket/src/main.ts": '"s3-bucket"',
  }),
  {
    file: "packages/runtime/src/process/settings.ts",
    original: "unit - 97",
    replacement: "unit + 97",
    reason: "Each letter is still replaced by another one of the alphabet: the shift is 13 in place of 1.",
  },
  {
    file: "packages/calls/src/post.ts",
    original: 'url.port === ""',
    replacement: "false",
    reason: "Node takes port 0 for the protocol's own.",
  },
  {
    file: "packages/queue/src/work-queue/queue-keys.ts",
    original: "keys.length > 0",
    replacement: "keys.length >= 0",
    reason: "Code that uses the keys does nothing with an empty list.",
  },
  {
    file: "packages/queue/src/work-queue/ledger-work-queue.ts",
    original: "ended.throwIfAborted();",
    replacement: ";",
    reason: "The loop begins with the same check: the call rejects one pause later.",
  },
  {
    file: "packages/kube/src/transport/retry-after.ts",
    original: "header.trim()",
    replacement: "header",
    reason: "The HTTP parser has removed the spaces around a header's value.",
  },
  {
    file: "functions/s3-bucket/src/ownership/claim-bucket.ts",
    original: '["Allow s3:ListAllMyBuckets, or set spec.accountId."]',
    replacement: "[]",
    reason: "The advice in a message.",
  },
  {
    file: "packages/bridge/src/queues/queue-delivery.ts",
    original: "performance.now() >= directFrom",
    replacement: "performance.now() > directFrom",
    reason: "A wake in the very instant in which the probation ends may go either way.",
  },
  {
    file: "apps/gateway/src/main.ts",
    behind: "const tenants = serveTenants(process, { name: ",
    original: '"gateway"',
    replacement: '""',
    reason: "The name of its connections in Redis' CLIENT LIST, for people.",
  },
  {
    file: "packages/bridge/src/hooks/verification/bearer.ts",
    original: "[]",
    replacement: '["Stryker was here"]',
    reason: "Only the second item is used, and neither list has one.",
  },
  {
    file: "packages/calls/src/call-function.ts",
    original: "performance.now() < end",
    replacement: "performance.now() <= end",
    reason: "In the very instant in which the time is over, one more try may be made or not.",
  },
  {
    file: "packages/bridge/src/store/parsed-json.ts",
    original: "{\n    return undefined;\n  }",
    replacement: "{}",
    reason: "A function that returns nothing returns undefined.",
  },
  {
    file: "packages/queue/src/ledger/ledger-scripts.ts",
    original: '"offer"',
    replacement: '""',
    reason: "Names the script in messages.",
  },
  {
    file: "functions/deployment/src/reconcile-deployment.ts",
    original: "draft.sets.every(isObserved)",
    replacement: "draft.sets.some(isObserved)",
    reason:
      "A look more at the namespace: a set that its controller has not seen yet causes another run, which looks too.",
  },
  {
    file: "packages/runtime/src/worker/run-function.ts",
    original: '"Reconciled"',
    replacement: '""',
    reason: "The text of a log line.",
  },
  {
    file: "packages/queue/src/bullmq/bullmq-scripts.ts",
    original: "changed.split(from).length !== 2",
    replacement: "false",
    reason: "Stops the start with a BullMQ that has other scripts; there is one exact version.",
  },
  {
    file: "packages/queue/src/redis/redis-connection.ts",
    original: "/CERT|^ERR_TLS|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$|^(PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/",
    replacement:
      "/CERT|^ERR_TLS|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$|^(PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)/",
    reason: "Node has no code that begins with one of these and goes on.",
  },
  {
    file: "packages/kube/src/transport/session.ts",
    original: "timers.now() - readAt < freshFor",
    replacement: "timers.now() - readAt <= freshFor",
    reason: "In the very instant in which credentials are no longer fresh, they may be used or read again.",
  },
  {
    file: "packages/runtime/src/run/finalizer.ts",
    behind: "(target.object.metadata.finalizers ?? ",
    original: "[]",
    replacement: '["Stryker was here"]',
    reason: "A finalizer is only taken off an object that has it.",
  },
  {
    file: "apps/deployer/src/scaling/rescale.ts",
    original: "Date.parse(time) <= now.getTime()",
    replacement: "Date.parse(time) < now.getTime()",
    reason: "A time that is this very millisecond is taken, or is replaced by itself.",
  },
  {
    file: "functions/deployment/src/revision/roll-back.ts",
    original: '""',
    replacement: '"Stryker was here!"',
    reason: "Neither text is a revision.",
  },
  {
    file: "packages/runtime/src/network/egress.ts",
    behind: 'const [address = "", size = ',
    original: '""',
    replacement: '"Stryker was here!"',
    reason: "Neither text is the size of a network: both are refused, with one message.",
  },
  {
    file: "packages/queue/src/memory/rules/pause.ts",
    original: "!note",
    replacement: "true",
    reason: "A namespace that is paused is looked at, and passed over.",
  },
  {
    file: "apps/deployer/src/permits/review-permits.ts",
    original: "signal.throwIfAborted();",
    replacement: ";",
    reason: "A process that stops logs a line more.",
  },
  {
    file: "apps/deployer/src/permits/permit-records.ts",
    behind: 'await client.patch(builtin.configMap, key, { type: "merge", body: { metadata, data } }, ',
    original: "{ signal }",
    replacement: "{}",
    reason: "A process that stops waits for the answer, instead of cutting the request off.",
  },
  {
    file: "packages/kube/src/objects/oldest-first.ts",
    original: "born(a) < born(b)",
    replacement: "born(a) <= born(b)",
    reason: "No two objects have one key.",
  },
  {
    file: "packages/runtime/src/schema/parse-object.ts",
    original: "partials.set(status, partial);",
    replacement: ";",
    reason: "Costs time: a schema is made again for each status.",
  },
  {
    file: "packages/bridge/src/hooks/verification/sent-headers.ts",
    original: "i + 1 < raw.length",
    replacement: "i + 1 <= raw.length",
    reason: "A list of names and values in turn has an even length.",
  },
  {
    file: "functions/s3-bucket/src/ownership/claim-bucket.ts",
    original: "[\n        `Wait, or ${rename.toLowerCase()}.`,\n      ]",
    replacement: "[]",
    reason: "The advice in a message.",
  },
  {
    file: "packages/runtime/src/tenants/tenants-file.ts",
    original: "{ maxAliasCount: 100 }",
    replacement: "{}",
    reason: "It is the parser's default, written out.",
  },
  {
    file: "apps/bridge/src/main.ts",
    behind: "readiness(",
    original: '"functions"',
    replacement: '""',
    reason: "Names a part that is not ready, in /readyz and the log.",
  },
  {
    file: "packages/kube/src/objects/managed-fields.ts",
    original: 'object.metadata["managedFields"] === undefined',
    replacement: "false",
    reason: "Costs time: an object without the field is copied, too.",
  },
  {
    file: "apps/gateway/src/check-queues.ts",
    original: "queues.filter((queue) => !isMain(queue))",
    replacement: "queues",
    reason: "Costs a call: queues that have just answered are asked twice.",
  },
  {
    file: "packages/queue/src/memory/rules/ledger-data.ts",
    behind: "forced: ",
    original: "false",
    replacement: "true",
    reason: "Of a new entry: it is taken, which clears this, before anything reads it.",
  },
  {
    file: "packages/calls/src/post.ts",
    original: String.raw`/^\[(.*)\]$/`,
    replacement: String.raw`/\[(.*)\]$/`,
    reason: "A host's name has a bracket nowhere but around an address.",
  },
];

const repository = join(import.meta.dirname, "../..");

/** Why a mutant may survive, where that is known. */
export const explanation = (mutant: Mutant): string | undefined =>
  EXPLAINED.find(
    ({ file, behind, original, replacement }) =>
      mutant.file === file &&
      mutant.original === original &&
      mutant.replacement === replacement &&
      (behind === undefined || lineUpTo(mutant) === behind),
  )?.reason;

function lineUpTo({ file, start }: Mutant): string {
  const text = readFileSync(join(repository, file), "utf8");
  return text.slice(text.lastIndexOf("\n", start - 1) + 1, start).trimStart();
}
