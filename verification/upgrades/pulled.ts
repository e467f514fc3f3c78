import { functionSettings, readSettings, runFunction } from "@drover/runtime";
import { z } from "zod";
import { notesController } from "./notes.ts";

await runFunction({
  name: "pulled",
  settings: () => readSettings(functionSettings.extend({ recorder: z.string() }), process.env),
  controller: ({ recorder }) => ({ controller: notesController("pulled", recorder) }),
});
