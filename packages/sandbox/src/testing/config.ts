/** Path of the kubectl that the suite for real parts has built. Throws where it was not. */
export function kubectlPath(): string {
  const path = process.env["DROVER_KUBECTL"];
  if (!path)
    throw new Error("DROVER_KUBECTL has to be the path of a kubectl; the suite `npm run test:real` sets it");
  return path;
}
