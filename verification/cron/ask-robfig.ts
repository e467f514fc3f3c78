import { goEnvironment } from "@drover/local-servers";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { z } from "zod";

/** A schedule, or times at which the offset of a zone is asked for. */
export interface Question {
  readonly zone: string;
  readonly schedule?: string;
  readonly after?: number;
  readonly count?: number;
  readonly offsetsAt?: readonly number[];
}

const answer = z.object({
  times: z.array(z.number()).optional(),
  offsets: z.array(z.number()).optional(),
  error: z.string().optional(),
});
export type Answer = z.output<typeof answer>;

/** Starts oracle.go, which answers questions by robfig/cron and Go's time zones. */
export function askRobfig() {
  const oracle = spawn("go", ["run", "-mod=readonly", "-trimpath", "-buildvcs=false", "."], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...goEnvironment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(oracle, "exit");
  const lines = createInterface({ input: oracle.stdout })[Symbol.asyncIterator]();
  return { ask, end };

  async function* ask<Q extends Question>(questions: readonly Q[]): AsyncGenerator<readonly [Q, Answer]> {
    void write(questions);
    for (const question of questions) {
      const { value } = await lines.next();
      yield [question, answer.parse(JSON.parse(String(value)))];
    }
  }

  async function end(): Promise<void> {
    oracle.stdin.end();
    await exited;
  }

  async function write(questions: readonly Question[]): Promise<void> {
    for (const question of questions)
      if (!oracle.stdin.write(`${JSON.stringify(question)}\n`)) await once(oracle.stdin, "drain");
  }
}
