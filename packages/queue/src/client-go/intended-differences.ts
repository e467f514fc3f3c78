/** An intended difference from client-go, and its results. */
export interface IntendedDifference {
  readonly because: string;
  /** By scenario: every line that `playScenario` returns. */
  readonly scenarios: Readonly<Record<string, readonly string[]>>;
}

export const intendedDifferences: readonly IntendedDifference[] = [
  {
    because:
      "A run answers all wakes before it: a timer that it overtook is removed, " +
      "and the key does not run once more without need.",
    scenarios: {
      "overtaken-timer-fires-again": ["7. advance 1: length 0, not 1", '8. get: got null, not "a"'],
      "timer-fires-during-processing": ["6. done a: length 0, not 1", '7. get: got null, not "a"'],
      "success-leaves-the-timer": ["9. advance 100: length 0, not 1", '10. get: got null, not "a"'],
      "success-leaves-the-backoff": ["10. advance 1: length 0, not 1", '11. get: got null, not "a"'],
      "event-during-a-run-that-fails-leaves-the-backoff": [
        "10. advance 1: length 0, not 1",
        '11. get: got null, not "a"',
      ],
    },
  },
  {
    because:
      "The time that the last run asked for applies, earlier or later: that run was the last to read the object.",
    scenarios: {
      "later-timer-is-ignored": [
        '1. addAfter a 300: waiting {"a":300}, not {"a":100}',
        "2. advance 100: length 0, not 1",
        '2. advance 100: waiting {"a":200}, not {}',
        '3. get: got null, not "a"',
        '3. get: waiting {"a":200}, not {}',
        '4. forget a: waiting {"a":200}, not {}',
        '5. done a: waiting {"a":200}, not {}',
        "6. advance 200: length 1, not 0",
        '7. get: got "a", not null',
      ],
      "requeue-after-keeps-the-earlier-timer": [
        '9. done a: waiting {"a":300}, not {"a":100}',
        "10. advance 100: length 0, not 1",
        '10. advance 100: waiting {"a":200}, not {}',
        '11. get: got null, not "a"',
        '11. get: waiting {"a":200}, not {}',
        '12. forget a: waiting {"a":200}, not {}',
        '13. done a: waiting {"a":200}, not {}',
        "14. advance 200: length 1, not 0",
        '15. get: got "a", not null',
      ],
    },
  },
  {
    because:
      "A backoff window counts one failure and lets one wake run the key early: a stream of events neither runs a " +
      "failing key once per event, nor makes its backoff as long as after hours of failures.",
    scenarios: {
      // client-go.test.ts checks how long these failures wait if they follow each other.
      "default-delays": Array.from(
        { length: 19 },
        (_, i) => `${i + 1}. addRateLimited a: requeues 1, not ${i + 2}`,
      ),
      "failure-while-delayed": [
        "1. addRateLimited a: requeues 1, not 2",
        "2. addRateLimited a: requeues 1, not 3",
        '6. done a: waiting {"a":200}, not {"a":800}',
        "6. done a: requeues 2, not 4",
      ],
      "every-add-overtakes-backoff": [
        "7. done a: requeues 1, not 2",
        "8. add a: length 0, not 1",
        "8. add a: requeues 1, not 2",
        '9. get: got null, not "a"',
        "10. addRateLimited a: requeues 1, not 3",
        "11. done a: requeues 1, not 3",
        "12. add a: length 0, not 1",
        "12. add a: requeues 1, not 3",
        '13. get: got null, not "a"',
      ],
      "failures-survive-adds": ["11. done a: requeues 2, not 3"],
      "failure-keeps-the-earlier-timer": [
        "8. done a: requeues 1, not 2",
        '14. done a: waiting {"a":200}, not {"a":400}',
        "14. done a: requeues 2, not 3",
      ],
      "event-during-a-run-that-fails": ["7. done a: requeues 1, not 2"],
    },
  },
  {
    because: "A run has one outcome, which decides about failures and timers: forget alone does not exist.",
    scenarios: {
      "done-does-not-forget": [
        "6. done a: requeues 0, not 1",
        "7. add a: requeues 0, not 1",
        '10. done a: waiting {"a":100}, not {"a":200}',
        "10. done a: requeues 1, not 2",
      ],
      "forget-leaves-the-timer": ["4. forget a: requeues 1, not 0"],
    },
  },
  {
    because:
      "A queue outlives its workers: wakes and due keys are kept for the others while one of them drains.",
    scenarios: {
      "shutdown-refuses-adds": [
        "4. add b: length 1, not 0",
        "5. done a: length 2, not 0",
        '6. get: got "b", not null',
        "6. get: length 1, not 0",
      ],
      "shutdown-drops-timers": [
        '1. shutDown: waiting {"a":100}, not {}',
        "2. advance 100: length 1, not 0",
        "3. addAfter b 100: length 1, not 0",
        '3. addAfter b 100: waiting {"b":100}, not {}',
        "4. advance 100: length 2, not 0",
        '5. get: got "a", not null',
        "5. get: length 1, not 0",
      ],
      "drain-refuses-adds": [
        "4. add b: length 1, not 0",
        "5. done a: length 2, not 0",
        '6. get: got "b", not null',
        "6. get: length 1, not 0",
      ],
      "drain-drops-timers": [
        '3. shutDownWithDrain: waiting {"b":100}, not {}',
        "4. advance 100: length 1, not 0",
        "6. done a: length 1, not 0",
        '6. done a: waiting {"a":100}, not {}',
        "7. advance 100: length 2, not 0",
        '8. get: got "b", not null',
        "8. get: length 1, not 0",
      ],
    },
  },
];
