"""Creates a rule, scans a pull request, watches the scan and prints what it found.

    PRWARDEN_SERVER=https://prwarden.example.com:9090 PRWARDEN_API_KEY=prw_… python review.py acme/shop 42

PRWARDEN_CA_FILE names a file of certificates to trust instead of the public
ones. The end is 0 when the pull request passes, 1 when it does not, 3 when
something went wrong.
"""

import os
import pathlib
import sys

import grpc

import prwarden
from prwarden.v1.review_pb2 import CreateReviewRequest, Finding, GetReviewRequest, Review, Verdict
from prwarden.v1.rule_pb2 import CreateRuleRequest, DeleteRuleRequest, Rule
from prwarden.v1.severity_pb2 import Severity

RULE = Rule(
    id="no-unsafe-loader",
    type=Rule.regex,
    pattern=r"yaml\.UnsafeLoader",
    message="Load settings with yaml.SafeLoader.",
    severity=Severity.medium,
)


def main() -> int:
    repo, number = sys.argv[1], int(sys.argv[2])
    ca_file = os.environ.get("PRWARDEN_CA_FILE")
    with prwarden.Client(
        os.environ["PRWARDEN_SERVER"],
        api_key=os.environ["PRWARDEN_API_KEY"],
        root_certificates=pathlib.Path(ca_file).read_bytes() if ca_file else None,
    ) as client:
        try:
            create_rule(client)
            review = scan(client, repo, number)
            client.rules.DeleteRule(DeleteRuleRequest(id=RULE.id))
            print(f"rule {RULE.id} deleted")
        except grpc.RpcError as raised:
            return explain(prwarden.ApiError.of(raised))
    return 0 if review.verdict.outcome == Verdict.Outcome.Value("pass") else 1


def create_rule(client: prwarden.Client) -> None:
    try:
        client.rules.CreateRule(CreateRuleRequest(rule=RULE))
        print(f"rule {RULE.id} created")
    except grpc.RpcError as raised:
        if prwarden.ApiError.of(raised).reason != "RULE_EXISTS":
            raise
        print(f"rule {RULE.id} exists already")


def scan(client: prwarden.Client, repo: str, number: int) -> Review:
    started = client.reviews.CreateReview(
        CreateReviewRequest(repo=repo, pr_number=number, fail_on=Severity.high), timeout=20
    )
    print(f"review {started.review_id} started")
    for update in client.watch(started.review_id):
        print(f"watch: {Review.Status.Name(update.status)}, {update.files_done} files done")
    review = client.reviews.GetReview(GetReviewRequest(review_id=started.review_id)).review
    for f in review.findings:
        severity, state = Severity.Level.Name(f.severity), Finding.State.Name(f.state)
        print(f"{f.file}:{f.line}:{f.column}: {severity} {f.rule_id} ({state})")
        print(f"    {f.message}")
    print(
        f"{len(review.findings)} findings, {len(review.suppressed)} suppressed, {len(review.fixed)} fixed: "
        f"{Verdict.Outcome.Name(review.verdict.outcome)} at {Severity.Level.Name(review.verdict.threshold)}"
    )
    return review


def explain(error: prwarden.ApiError) -> int:
    print(f"failed: {error}", file=sys.stderr)
    for violation in error.violations:
        print(f"  {violation.field}: {violation.description}", file=sys.stderr)
    if error.retry_after is not None:
        print(f"  try again in {error.retry_after:.0f} s", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
