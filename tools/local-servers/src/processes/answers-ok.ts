import { request as requestPlain, type ClientRequest, type RequestOptions } from "node:http";
import { request as requestSecure, type RequestOptions as SecureOptions } from "node:https";

/** True if a GET is answered with 200 within 5 s: over HTTPS if the options have a `ca`, else over HTTP. */
export function answersOk(options: RequestOptions | SecureOptions): Promise<boolean> {
  // No agent: a kept connection may lead to a server that is gone by the next request.
  const complete = { ...options, agent: false, timeout: 5000 };
  const request: ClientRequest = "ca" in complete ? requestSecure(complete) : requestPlain(complete);
  return new Promise((resolve) => {
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
    request.on("close", () => resolve(false));
    request.end();
  });
}
