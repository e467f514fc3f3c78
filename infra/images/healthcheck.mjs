// Checks that the process of this container is ready: exit code 0. For images that have Node and no curl.
const url = process.argv[2] ?? "http://127.0.0.1:8080/readyz";
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2500) });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
} catch (error) {
  console.error(`${url}:`, error);
  process.exitCode = 1;
}
