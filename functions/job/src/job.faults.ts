import { faultScenario, type FunctionUnderTest, type User } from "@drover/testing";
import deployedAs from "./function.ts";
import { jobController } from "./job-controller.ts";
import { ended, job, jobs, pods, writePod } from "./testing/jobs.ts";

const start: FunctionUnderTest = ({ now }) => jobController(now);

/** Long before the first run, so that no pod waits for its backoff. */
const at = new Date("2025-01-01T00:00:00Z");
const isOpen = (status: unknown): boolean => JSON.stringify(status).includes('"Pending"');

/** Does what a kubelet does when the containers of the Job's open pods end with these exit codes; the last for all others. */
const end = (...codes: readonly number[]) => ({
  title: `pods end with ${codes.join(", ")}`,
  act: async (user: User) => {
    const open = (await user.list(pods)).filter(
      ({ metadata, status }) => isOpen(status) && metadata.ownerReferences?.[0]?.kind === "Job",
    );
    const byIndex = open.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    for (const [i, pod] of byIndex.entries())
      await writePod(user, pod, ended(codes[i] ?? codes.at(-1) ?? 0, at));
  },
});

export const counted = faultScenario({
  name: "the pods of a Job fail and succeed, and each is counted once",
  start,
  deployedAs,
  except: { "pods default/* deleted after step 4": "a finished Job makes no others" },
  steps: [
    { apply: job({ completions: 3, parallelism: 2, backoffLimit: 3 }) },
    end(1, 0),
    end(0),
    end(0),
    { delete: { ...jobs, name: "sum" } },
  ],
});

export const indexed = faultScenario({
  name: "an index of a Job fails for good, and the Job with it",
  start,
  deployedAs,
  except: { "pods default/* deleted after step 3": "a finished Job makes no others" },
  steps: [
    { apply: job({ completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 1 }) },
    end(0, 1),
    end(1),
  ],
});

export const suspended = faultScenario({
  name: "a Job is suspended and resumed",
  start,
  deployedAs,
  except: {
    "step 3 with no run after step 2": "no run has read the suspended Job",
    "and down until step 3 is done": "no run has read the suspended Job",
    "pods default/* deleted after step 4": "a finished Job makes no others",
  },
  steps: [
    { apply: job({ completions: 2, parallelism: 2 }) },
    { apply: job({ completions: 2, parallelism: 2, suspend: true }) },
    { apply: job({ completions: 2, parallelism: 2, suspend: false }) },
    end(0),
  ],
});
