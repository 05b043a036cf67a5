import { Code, ConnectError } from "@connectrpc/connect";
import { sleep } from "../retry.js";
import { pauseAfter } from "./calls.js";
import { ApiError } from "./errors.js";
import { ReviewService, Review_Status, type WatchReviewResponse } from "./gen/prwarden/v1/review_pb.js";
import type { Client } from "./index.js";

const final = [Review_Status.complete, Review_Status.failed, Review_Status.canceled];

/** Options of a watch. */
export interface WatchOptions {
  /** Ends the watch. */
  signal?: AbortSignal;
  /** How often it is opened in a row without an update, at least 1; 4 when not given. */
  attempts?: number;
}

/**
 * Watches a review: yields its state at once, then every change and progress, until the state is final; no keep-alives.
 * A watch that breaks, as when the server is restarted, is opened again.
 */
export async function* watchReview(
  client: Client,
  reviewId: string,
  { signal, attempts = 4 }: WatchOptions = {},
): AsyncGenerator<WatchReviewResponse> {
  for (let attempt = 1; ; attempt++) {
    try {
      for await (const update of client.reviews.watchReview({ reviewId }, { signal })) {
        attempt = 1;
        if (!update.keepAlive) {
          yield update;
        }
        if (update.status !== undefined && final.includes(update.status)) {
          return;
        }
      }
      throw new ConnectError("the watch ended before the review did", Code.Unavailable);
    } catch (thrown) {
      const pause = pauseAfter(ApiError.of(thrown), ReviewService.method.watchReview, attempt);
      if (pause === undefined || attempt >= attempts) {
        throw thrown;
      }
      await sleep(pause, signal);
    }
  }
}
