// Random schedules, many of them with several ranges in each field, and some that are none.
import { type PseudoRandom } from "@drover/random";

const bounds = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;

function range(random: PseudoRandom, [min, max]: readonly [number, number]): string {
  const value = () => min + random.below(max - min + 1);
  const draw = random.below(10);
  if (draw < 4) return String(value());
  if (draw < 6) {
    const [a, b] = [value(), value()].sort((one, other) => one - other);
    return `${a}-${b}`;
  }
  if (draw < 7) return `*/${1 + random.below(max)}`;
  if (draw < 8) return `${value()}/${1 + random.below(20)}`;
  const [a, b] = [value(), value()].sort((one, other) => one - other);
  return draw < 9 ? `${a}-${b}/${1 + random.below(5)}` : random.oneOf(["*", "?"]);
}

const field = (random: PseudoRandom, limits: readonly [number, number], any: number): string =>
  random.chance(any)
    ? random.oneOf(["*", "*", "?"])
    : Array.from({ length: 1 + random.below(3) }, () => range(random, limits)).join(",");

const invalid = [
  "60 * * * *",
  "* 24 * * *",
  "* * 0 * *",
  "* * * 13 *",
  "* * * * 7",
  "5-1 * * * *",
  "*/0 * * * *",
  "* * * *",
  "1-2-3 * * * *",
  "1/2/3 * * * *",
  "a * * * *",
  "-1 * * * *",
  "@never",
  "@every x",
  "@every 1",
  "",
];
const named = [
  "@hourly",
  "@daily",
  "@midnight",
  "@weekly",
  "@monthly",
  "@yearly",
  "@annually",
  "@every 1h30m",
  "@every 90s",
  "@every 1.5h",
  "@every 10ms",
  "@every 0",
  "@every -5m",
  "@every +5m",
  ", * * * *",
  "0 0 * jan-mar mon-fri",
  "0 12 * FEB Sun",
  "0 0 30 2 *",
  "0 0 29 2 *",
  "*/5 * * * ? ",
  "CRON_TZ=Asia/Tokyo 0 5 * * *",
  "TZ=America/New_York 30 1 * * *",
];

export function scheduleOf(random: PseudoRandom): string {
  const draw = random.below(100);
  if (draw < 3) return random.oneOf(invalid);
  if (draw < 8) return random.oneOf(named);
  const any = [0.2, 0.35, 0.6, 0.7, 0.6];
  return bounds.map((limits, i) => field(random, limits, any[i] ?? 0)).join(" ");
}
