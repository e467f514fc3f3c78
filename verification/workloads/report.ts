import { shownAction } from "./sequences/actions.ts";
import { described } from "./canonical/compare.ts";
import { reference } from "./subjects.ts";
import type { SuiteResult } from "./suite.ts";

/** The result for people. Its last line is the figures. */
export function report(result: SuiteResult): string {
  const { actions, differing, byChance, violated, violatedBySubjectAlone, unused, unsettled, late, seconds } =
    result;
  const byReference = violated.filter(({ subject }) => subject === reference.name).length;
  return [
    ...differing.map(
      ({ sequence, found }) =>
        `== sequence ${sequence.seed} differs\n` +
        `${sequence.actions.map((action, i) => `${i + 1}. ${shownAction(action)}`).join("\n")}\n` +
        described(found.slice(0, 12)),
    ),
    ...byChance.map(
      ({ sequence, found }) => `by chance: sequence ${sequence.seed}\n${described(found.slice(0, 2))}`,
    ),
    ...violated.map(
      ({ seed, subject, action, problem }) => `== sequence ${seed}, ${subject}, action ${action}: ${problem}`,
    ),
    ...unused.map(({ reason }) => `== allowed, and never met: ${reason}`),
    ...late.map(
      (seed) => `sequence ${seed} was too late for one of its actions, and is compared up to there`,
    ),
    ...unsettled.map((one) => `not settled: ${one}`),
    `${actions} actions: ${differing.length} sequences differ, ${byChance.length} by chance; ` +
      `rules broken: ${byReference} times by the reference, ${violated.length - byReference} times by the subject, of which ` +
      `${violatedBySubjectAlone.length} that the reference did not break; ` +
      `reference ${seconds.reference.toFixed(0)} s, subject ${seconds.subject.toFixed(0)} s`,
  ].join("\n");
}
