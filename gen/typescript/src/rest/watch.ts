import { backoff, sleep } from "../retry.js";
import { ApiError } from "./errors.js";
import type { Client, Schemas } from "./index.js";

type Update = Schemas["WatchReviewResponse"];

const final = ["complete", "failed", "canceled"];

/** Options of a watch. */
export interface WatchOptions {
  /** Ends the watch. */
  signal?: AbortSignal;
  /** How often it is opened in a row without an update, at least 1; 4 when not given. */
  attempts?: number;
}

/**
 * Watches a review: yields its state at once, then every change and progress, until the state is final; no keep-alives.
 * A watch that breaks, as when the server is restarted, is opened again. It throws an {@link ApiError} when the server
 * refuses.
 */
export async function* watchReview(
  client: Client,
  reviewId: string,
  { signal, attempts = 4 }: WatchOptions = {},
): AsyncGenerator<Update> {
  for (let attempt = 1; ; attempt++) {
    try {
      for await (const update of watchOnce(client, reviewId, signal)) {
        attempt = 1;
        if (!update.keep_alive) {
          yield update;
        }
        if (final.includes(update.status)) {
          return;
        }
      }
      throw new TypeError("the watch ended before the review did");
    } catch (thrown) {
      const refused = thrown instanceof ApiError && thrown.status !== 429 && thrown.status !== 503;
      if (refused || attempt >= attempts || signal?.aborted) {
        throw thrown;
      }
      const asked = thrown instanceof ApiError ? thrown.retryAfterMs : undefined;
      await sleep(asked ?? backoff(attempt), signal);
    }
  }
}

async function* watchOnce(client: Client, reviewId: string, signal?: AbortSignal): AsyncGenerator<Update> {
  const { data, error, response } = await client.GET("/v1/reviews/{review_id}:watch", {
    params: { path: { review_id: reviewId } },
    parseAs: "stream",
    signal,
  });
  if (!data) {
    throw ApiError.of({ error, response });
  }
  for await (const line of lines(data as unknown as ReadableStream<Uint8Array>)) {
    const message = JSON.parse(line) as { result?: Update; error?: { message?: string } };
    if (!message.result) {
      // The status was 200 when the stream began; what broke it since may pass.
      throw new Error(message.error?.message ?? "the watch broke");
    }
    yield message.result;
  }
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const complete = rest.split("\n");
      rest = done ? "" : (complete.pop() ?? "");
      yield* complete.filter((line) => line.trim() !== "");
      if (done) {
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
