import { backoff, sleep } from "../retry.js";

/** Wraps fetch with a deadline and repetitions. */
export function retrying(
  inner: (request: Request) => Promise<Response>,
  timeoutMs: number,
  attempts: number,
): (request: Request) => Promise<Response> {
  return async (given) => {
    const { pathname } = new URL(given.url);
    if (pathname.endsWith(":watch")) {
      return await inner(given);
    }
    const creates = given.method === "POST" && pathname.endsWith("/v1/reviews");
    const headers = new Headers(given.headers);
    if (creates && !headers.has("Idempotency-Key")) {
      headers.set("Idempotency-Key", crypto.randomUUID());
    }
    const repeatable = given.method === "GET" || creates || pathname.endsWith("/v1/rules:test");
    const end = Date.now() + timeoutMs;
    const signal = AbortSignal.any([given.signal, AbortSignal.timeout(timeoutMs)]);
    const request = new Request(given, { headers, signal });
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      let pause: number;
      try {
        // A body can be sent once; the request keeps its own for the next attempt.
        const response = await inner(request.clone());
        const again = response.status === 429 || (response.status === 503 && repeatable);
        pause = retryAfter(response) ?? backoff(attempt);
        if (last || !again || Date.now() + pause >= end) {
          return response;
        }
        await response.body?.cancel();
      } catch (thrown) {
        // The network: nobody knows how far the request came.
        pause = backoff(attempt);
        if (last || !repeatable || signal.aborted || Date.now() + pause >= end) {
          throw thrown;
        }
      }
      await sleep(pause, signal);
    }
  };
}

/** Milliseconds that `Retry-After` asks for; the server says it in seconds. */
export function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
