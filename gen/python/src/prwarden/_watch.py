"""Watching a review to its end."""

from __future__ import annotations

import time
from collections.abc import Iterator

import grpc

from prwarden._calls import pause_after
from prwarden._errors import ApiError
from prwarden.v1 import review_pb2, review_pb2_grpc

_FINAL = (review_pb2.Review.complete, review_pb2.Review.failed, review_pb2.Review.canceled)


def watch(
    reviews: review_pb2_grpc.ReviewServiceStub, review_id: str, timeout: float | None, attempts: int
) -> Iterator[review_pb2.WatchReviewResponse]:
    """See :meth:`prwarden.Client.watch`."""
    end = None if timeout is None else time.monotonic() + timeout
    request = review_pb2.WatchReviewRequest(review_id=review_id)
    attempt = 0
    while True:
        attempt += 1
        left = None if end is None else max(0.0, end - time.monotonic())
        call = reviews.WatchReview(request, timeout=left)
        try:
            for update in call:
                attempt = 1
                if not update.keep_alive:
                    yield update
                if update.status in _FINAL:
                    return
            error = ApiError(grpc.StatusCode.UNAVAILABLE, "", "the watch ended before the review did")
            failure: Exception = ConnectionError(error.message)
        except grpc.RpcError as raised:
            error, failure = ApiError.of(raised), raised
        finally:
            call.cancel()  # type: ignore[no-untyped-call]  # when nobody wants more of it
        pause = pause_after(error, "WatchReview", attempt)
        if pause is None or attempt >= attempts or (end is not None and time.monotonic() + pause >= end):
            raise failure
        time.sleep(pause)
