"""Client of prwarden, the self-hosted pull-request scanner.

>>> client = prwarden.Client("https://prwarden.example.com:9090", api_key=key)
>>> started = client.reviews.CreateReview(CreateReviewRequest(repo="acme/shop", pr_number=42))

The messages are in the modules ``prwarden.v1.review_pb2``, ``rule_pb2``,
``key_pb2`` and ``severity_pb2``.
"""

from prwarden._client import Client
from prwarden._errors import ApiError, FieldViolation

__all__ = ["ApiError", "Client", "FieldViolation"]
