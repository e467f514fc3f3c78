import { Option } from "commander";

/** The form of a command's output: for people, or JSON. */
export const outputOption = (usual: "text" | "table"): Option =>
  new Option("-o, --output <form>", "output format").choices([usual, "json"]).default(usual);
