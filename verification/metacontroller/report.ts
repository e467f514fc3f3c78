import { shownAction } from "./histories/actions.ts";
import { described } from "./judge/compare.ts";
import type { Failure, SuiteResult } from "./suite.ts";

/** The result for people. Its last line has the figures. */
export function report(result: SuiteResult, seed: number): string {
  const { histories, compared, again, restarts, failures, met, seconds } = result;
  return [
    ...[...met].map(([{ reason }, count]) => `allowed, in ${count} states: ${reason}`),
    `${histories} histories, seed ${seed}: ${failures} differ; ${compared} states compared, ${again} twice, ` +
      `${restarts} restarts, ${seconds.toFixed(0)} s`,
  ].join("\n");
}

/** A failure for people. */
export const shownFailure = ({ history, action, found, unsettled }: Failure): string =>
  [
    `== history ${history.seed} differs after action ${action}`,
    ...history.actions.slice(0, action).map((one, i) => `${i + 1}. ${shownAction(one)}`),
    ...unsettled.map((line) => `   ${line}`),
    described(found.slice(0, 12)),
  ].join("\n");
