import { readSettings } from "@drover/runtime";
import { embeddedSettings } from "../embedded-settings.ts";

export const cupsConfig = () => readSettings(embeddedSettings, process.env);
