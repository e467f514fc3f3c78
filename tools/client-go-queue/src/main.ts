// Prints scenarios.json anew: `node tools/client-go-queue/src/main.ts`.
import { writeFile } from "node:fs/promises";
import { printScenarios } from "./print-scenarios.ts";
import { scenariosFile } from "./scenarios.ts";

await writeFile(scenariosFile, await printScenarios());
