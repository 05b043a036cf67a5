"""What the server says about a call that failed."""

from __future__ import annotations

import dataclasses

import grpc
from google.rpc import error_details_pb2, status_pb2


@dataclasses.dataclass(frozen=True)
class FieldViolation:
    """One mistake in a request."""

    field: str
    """The field, as ``pr_number`` or ``rule.pattern``."""
    description: str
    """What is allowed, and what it was."""


@dataclasses.dataclass(frozen=True)
class ApiError:
    """What is known of a failed call: :meth:`of` reads it from the exception."""

    code: grpc.StatusCode
    """The kind of error, such as ``NOT_FOUND``."""
    reason: str
    """A word for programs, such as ``RATE_LIMITED``; docs/api.md lists all.
    Empty when the error is not of the server, such as one of the network.
    """
    message: str
    """A sentence for people."""
    violations: tuple[FieldViolation, ...] = ()
    """The mistakes in the request, with ``INVALID_ARGUMENT``."""
    retry_after: float | None = None
    """Seconds after which the same call may succeed, when the server says so."""
    metadata: dict[str, str] = dataclasses.field(default_factory=dict)
    """More for programs, such as the missing scope."""

    @classmethod
    def of(cls, error: grpc.RpcError) -> ApiError:
        """Read what the server said from the exception that a call raised."""
        if not isinstance(error, grpc.Call):
            return cls(grpc.StatusCode.UNKNOWN, "", str(error))
        reason, violations, retry_after, metadata = "", [], None, {}
        for detail in _status(error).details:
            info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
            retry = error_details_pb2.RetryInfo()
            if detail.Unpack(info):
                reason, metadata = info.reason, dict(info.metadata)
            elif detail.Unpack(bad):
                violations = [FieldViolation(v.field, v.description) for v in bad.field_violations]
            elif detail.Unpack(retry):
                retry_after = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
        return cls(error.code(), reason, error.details() or "", tuple(violations), retry_after, metadata)

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"


def _status(call: grpc.Call) -> status_pb2.Status:
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            return status_pb2.Status.FromString(value)
    return status_pb2.Status()
