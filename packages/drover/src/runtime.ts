/** The process of a function, and its settings. */
export {
  durationInMs,
  functionSettings,
  nonSecret,
  readSettings,
  runFunction,
  secretFile,
  servedSettings,
  type ServedSettings,
  serveFunction,
} from "@drover/runtime";
