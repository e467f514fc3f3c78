// Loaded into child processes of tests with `--import`: shifts the wall clock of a Node process by CLOCK_SKEW_MS, as
// that of another machine would be. Timers and `performance.now()` are not shifted; they belong to the machine alone.
//
// Not shifted: what Node's own C++ and internals read (certificates' dates, files' times, the Date header of a response).
import process from "node:process";

const skew = Number(process.env["CLOCK_SKEW_MS"] ?? 0);
const RealDate = globalThis.Date;
const now = RealDate.now;

if (Number.isFinite(skew) && skew !== 0) {
  RealDate.now = () => now() + skew;
  const SkewedDate = new Proxy(RealDate, {
    construct: (target, args, made) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, made),
    apply: (target) => new target(target.now()).toString(),
  });
  RealDate.prototype.constructor = SkewedDate;
  globalThis.Date = SkewedDate;
  Object.defineProperty(performance, "timeOrigin", { value: performance.timeOrigin + skew });
}
