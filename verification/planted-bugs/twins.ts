import type { FunctionUnderTest, Scenario } from "@drover/testing";

/** Two scenarios that share everything but one mistake. */
export interface Twins {
  readonly broken: Scenario;
  readonly right: Scenario;
}

/** @param start makes the function, with the mistake or without it. */
export const twins = (
  scenario: Omit<Scenario, "start">,
  start: (isRight: boolean) => FunctionUnderTest,
): Twins => ({
  broken: { ...scenario, start: start(false) },
  right: { ...scenario, name: `${scenario.name}, mended`, start: start(true) },
});
