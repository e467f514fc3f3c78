import type { ContenderName, Role } from "../contenders/contender.ts";
import type { Wakes, Woken } from "./messages.ts";
import { type BenchProcess, startBenchProcess } from "./start-bench-process.ts";

/** The processes of one contender, and what they have left due on the server. Disposal kills them. */
export interface Team extends AsyncDisposable {
  readonly name: ContenderName;
  readonly producer: BenchProcess;
  readonly workers: readonly [BenchProcess, ...BenchProcess[]];
  /** Keys that were woken and have not run. */
  due(): number;
  /** Wake `count` keys of which none is due. */
  wake(count: number, how?: WakeHow): Promise<Woken>;
  /** Wake keys again that are due already: those woken last. */
  wakeAgain(count: number, how?: WakeHow): Promise<Woken>;
  /** So many keys have run. */
  ran(runs: number): void;
  /** The server was emptied; up to `depth` keys will be due from now on. */
  restart(depth: number): void;
}

/** Keys per call, a bulk by default, and the ms after which no further call is made. */
type WakeHow = Partial<Pick<Wakes, "perCall" | "lasts">>;

/** A bridge of the shipped size wakes as many in one call. */
export const bulk = 200;
const bulks = { perCall: bulk };

export async function startTeam(
  name: ContenderName,
  url: string,
  workerCount: number,
  queue = `bench-${name}`,
): Promise<Team> {
  const start = (role: Role) => startBenchProcess({ contender: name, url, queue, role });
  const [producer, ...workers] = await Promise.all([
    start("producer"),
    start("worker"),
    ...Array.from({ length: workerCount - 1 }, () => start("worker")),
  ]);
  let woken = 0;
  let ran = 0;
  let cycle = 0;
  return {
    name,
    producer,
    workers,
    due: () => woken - ran,
    async wake(count, how) {
      const answer = await producer.wake({ from: woken, count, distinct: count, cycle, ...bulks, ...how });
      woken += answer.wakes;
      return answer;
    },
    wakeAgain(count, how) {
      const distinct = Math.min(count, woken - ran);
      return producer.wake({ from: woken - distinct, count, distinct, cycle, ...bulks, ...how });
    },
    ran: (runs) => void (ran += runs),
    restart(depth) {
      woken = ran = 0;
      cycle = Math.max(1_000, 4 * depth);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([producer, ...workers].map((each) => each.kill()));
    },
  };
}
