import { runDrover } from "./run-drover.ts";

process.exitCode = await runDrover(process.argv.slice(2));
