"""The connection to a server."""

from __future__ import annotations

import types
import urllib.parse
from collections.abc import Iterator

import grpc

from prwarden._calls import Calls
from prwarden._watch import watch
from prwarden.v1 import key_pb2_grpc, review_pb2, review_pb2_grpc, rule_pb2_grpc

# 10,000 findings, with as many suppressed and fixed ones, are more than the
# 4 MiB that gRPC takes by default.
_MAX_ANSWER = 128 << 20


class Client:
    """Calls one server with one API key. It can be used by many threads.

    Every call that fails raises :class:`grpc.RpcError`;
    :meth:`prwarden.ApiError.of` says what the server said.

    A call that is answered at once takes at most ``timeout`` seconds in all,
    unless it is given a timeout of its own. Within that time it is tried again
    when the server asks for it (over the rate limit, or away for a moment) and
    nothing can happen twice: ``CreateReview`` gets an ``idempotency-key``
    unless it has one, and calls that create, cancel or delete something else
    are only repeated over the rate limit. ``WatchReview`` has no timeout, and
    is not repeated; :meth:`watch` opens it again.
    """

    reviews: review_pb2_grpc.ReviewServiceStub
    """Starts reviews and reads their results."""
    rules: rule_pb2_grpc.RuleServiceStub
    """Lists, creates, tries and deletes rules."""
    keys: key_pb2_grpc.KeyServiceStub
    """Makes, lists and revokes API keys."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str,
        root_certificates: bytes | None = None,
        private_key: bytes | None = None,
        certificate_chain: bytes | None = None,
        timeout: float = 60.0,
        attempts: int = 4,
    ) -> None:
        """Make a client; it connects with the first call.

        Args:
            url: ``https://HOST[:PORT]`` of the gRPC API; ``http://`` sends the
                key and all else in plain text, for tests and trusted networks.
            api_key: ``prw_…``.
            root_certificates: PEM of the authorities to trust, instead of the
                public ones.
            private_key: PEM of the key to show, where the server or a proxy
                asks for one; with ``certificate_chain``.
            certificate_chain: PEM of the certificate to show.
            timeout: Seconds that a call may take, with its repetitions.
            attempts: How often a call is tried, at least 1.
        """
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            raise ValueError(f"url: must be https://HOST[:PORT] or http://HOST[:PORT]; it is {url!r}")
        if attempts < 1:
            raise ValueError(f"attempts: must be at least 1; it is {attempts}")
        options = [("grpc.max_receive_message_length", _MAX_ANSWER)]
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        if parts.scheme == "https":
            credentials = grpc.ssl_channel_credentials(root_certificates, private_key, certificate_chain)
            self._channel = grpc.secure_channel(f"{host}:{parts.port or 443}", credentials, options)
        else:
            self._channel = grpc.insecure_channel(f"{host}:{parts.port or 80}", options)
        self._attempts = attempts
        channel = grpc.intercept_channel(self._channel, Calls(api_key, timeout, attempts))
        self.reviews = review_pb2_grpc.ReviewServiceStub(channel)
        self.rules = rule_pb2_grpc.RuleServiceStub(channel)
        self.keys = key_pb2_grpc.KeyServiceStub(channel)

    def watch(self, review_id: str, *, timeout: float | None = None) -> Iterator[review_pb2.WatchReviewResponse]:
        """Yield the state of a review at once, and every change and progress until the state is final.

        Keep-alives are left out. A watch that breaks, as when the server is
        restarted, is opened again, up to ``attempts`` times in a row without an
        update.

        Args:
            review_id: The review.
            timeout: Seconds for all of it; for ever when not given.
        """
        return watch(self.reviews, review_id, timeout, self._attempts)

    def close(self) -> None:
        """End the connection; open watches are canceled."""
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        self.close()
