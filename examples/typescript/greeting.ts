import { defineController, defineResource, RetryAfterError, TerminalError } from "drover";
import { z } from "zod";

/** The kind that all examples reconcile. `refuse`, `fail`, `wait` and `hold` choose the outcome of a run. */
export const Greeting = defineResource({
  group: "examples.drover.dev",
  version: "v1",
  kind: "Greeting",
  scope: "Namespaced",
  description: "Says hello.",
  spec: z.object({
    name: z.string().meta({ description: "The name to greet." }),
    refuse: z.boolean().optional().meta({ description: "Give up until the object changes." }),
    fail: z.boolean().optional().meta({ description: "Fail, and be tried again." }),
    wait: z.int().min(1).optional().meta({ description: "Ask to be called again after so many seconds." }),
    count: z
      .boolean()
      .optional()
      .meta({ description: "Report the number of runs in the status: for tests of the contract." }),
    hold: z.boolean().optional().meta({ description: "Do not let the object go yet." }),
  }),
  status: z.object({ text: z.string().optional(), runs: z.int().optional() }),
});

export const greetings = () => {
  // Only for tests of the contract, by which calls do not run twice. Not an example to follow: a count in memory is
  // lost with the process.
  let runs = 0;
  return defineController({
    for: Greeting,
    reconcile({ spec: { name, refuse, fail, wait, count } }) {
      runs++;
      if (refuse) throw new TerminalError("no greeting for that", { reason: "NoGreeting" });
      if (fail) throw new Error("this one always fails");
      if (wait !== undefined) throw new RetryAfterError("not yet", { after: `${wait}s`, reason: "TooEarly" });
      return Promise.resolve({ status: { text: `Hello, ${name}!`, ...(count && { runs }) } });
    },
    finalize({ spec: { hold } }) {
      if (hold) throw new RetryAfterError("not yet", { after: "1s", reason: "TooEarly" });
      return Promise.resolve();
    },
  });
};
