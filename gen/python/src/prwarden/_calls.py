"""What every call gets: the API key, a deadline, and repetitions."""

from __future__ import annotations

import collections
import random
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import grpc

from prwarden._errors import ApiError

_IDEMPOTENCY_KEY = "idempotency-key"
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0

# Calls that may have happened although the server could not say so, and that
# answer something else the second time.
_ONCE = frozenset({"CancelReview", "CreateRule", "DeleteRule", "CreateKey", "DeleteKey"})

_Continuation = Callable[[grpc.ClientCallDetails, Any], Any]


class _Details(
    collections.namedtuple(
        "_Details", ("method", "timeout", "metadata", "credentials", "wait_for_ready", "compression")
    ),
    grpc.ClientCallDetails,
):
    """grpc has no constructor for the details of a call."""


# grpc's interceptors are generic in their types only.
if TYPE_CHECKING:
    _UnaryUnary = grpc.UnaryUnaryClientInterceptor[Any, Any]
    _UnaryStream = grpc.UnaryStreamClientInterceptor[Any, Any]
else:
    _UnaryUnary = grpc.UnaryUnaryClientInterceptor
    _UnaryStream = grpc.UnaryStreamClientInterceptor


class Calls(_UnaryUnary, _UnaryStream):
    """Interceptor of all calls of one client."""

    def __init__(self, api_key: str, timeout: float, attempts: int) -> None:
        self._authorization = ("authorization", f"Bearer {api_key}")
        self._timeout = timeout
        self._attempts = attempts

    def intercept_unary_unary(
        self, continuation: _Continuation, client_call_details: grpc.ClientCallDetails, request: Any
    ) -> Any:
        details = self._with_key(client_call_details)
        method = details.method.rsplit("/", 1)[-1]
        if method == "CreateReview" and not any(name == _IDEMPOTENCY_KEY for name, _ in details.metadata):
            details = details._replace(metadata=[*details.metadata, (_IDEMPOTENCY_KEY, str(uuid.uuid4()))])
        end = time.monotonic() + (self._timeout if details.timeout is None else details.timeout)
        for attempt in range(1, self._attempts + 1):
            call = continuation(details._replace(timeout=max(0.0, end - time.monotonic())), request)
            error = call.exception()
            if attempt == self._attempts or not isinstance(error, grpc.RpcError):
                return call
            pause = pause_after(ApiError.of(error), method, attempt)
            if pause is None or time.monotonic() + pause >= end:
                return call
            time.sleep(pause)
        raise AssertionError("a call is tried at least once")

    def intercept_unary_stream(
        self, continuation: _Continuation, client_call_details: grpc.ClientCallDetails, request: Any
    ) -> Any:
        return continuation(self._with_key(client_call_details), request)

    def _with_key(self, given: grpc.ClientCallDetails) -> _Details:
        return _Details(
            given.method,
            given.timeout,
            [*(given.metadata or ()), self._authorization],
            given.credentials,
            given.wait_for_ready,
            given.compression,
        )


def pause_after(error: ApiError, method: str, attempt: int) -> float | None:
    """How many seconds to wait before the next attempt; None when there is to be none."""
    if error.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return error.retry_after  # a message that is too large has none
    if error.code is grpc.StatusCode.UNAVAILABLE and method not in _ONCE:
        if error.retry_after is not None:
            return error.retry_after
        doublings = min(attempt - 1, 5)  # more than the longest pause already
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**doublings) * random.uniform(0.5, 1.0))
    return None
