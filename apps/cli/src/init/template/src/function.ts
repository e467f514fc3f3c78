import { defineFunction } from "drover";
import { controller } from "./controller.ts";

/**
 * The deployment of the function. `npx drover generate` writes deploy/ and the Dockerfile from this and from the
 * controller.
 */
export default defineFunction({
  controller,
  deployment: {
    container: { image: "greeter:0.1.0" },
    scaling: { max: 3 },
  },
});
