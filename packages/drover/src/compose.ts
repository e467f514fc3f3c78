/** Functions that declare the children of an object. */
export { composeController } from "@drover/compose";
