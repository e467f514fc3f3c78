import { hookEvents } from "./hook-subjects.ts";
import { answers, calls, completions } from "./message-subjects.ts";
import type { OpenSubject } from "./sent.ts";

/** All that verify, opened anew: each has a memory of its own. */
export const openSubjects = async (isOverHttp: boolean): Promise<readonly OpenSubject[]> => [
  await calls(isOverHttp),
  answers(isOverHttp),
  await completions(isOverHttp),
  ...(await hookEvents(isOverHttp)),
];
