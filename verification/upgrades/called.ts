import { readSettings, servedSettings, serveFunction } from "@drover/runtime";
import { z } from "zod";
import { notesController } from "./notes.ts";

await serveFunction({
  name: "called",
  settings: () => readSettings(servedSettings.extend({ recorder: z.string() }), process.env),
  controller: ({ recorder }) => ({ controller: notesController("called", recorder) }),
});
