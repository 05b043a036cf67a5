"""What schemathesis can't know from the OpenAPI document (.ci/property-test).

A document says the form of a request. That a ruleset is this repository's, that
a pattern fails no case of its rule, or that an expiry lies in the future, it
can't say. So requests that are meant to be right are made right in these
points, and where one is refused all the same, the refusal has to be one of
REFUSALS. All checks are on; one of our own asks that the reason of every error
is documented for the call.
"""

import datetime
import ipaddress
import itertools
import json
import os
import re
import zlib

import requests
import schemathesis

REPOSITORY = os.environ["REPOSITORY"]  # has the pull requests 1 to 3
HEAD, BASE = os.environ["HEAD_SHA"], os.environ["BASE_SHA"]
OWN_KEY = os.environ["OWN_KEY"]  # identifier of the key that the test uses
RATE_LIMIT = int(os.environ["RATE_LIMIT"])  # of that key

# Parts of patterns, none of which matches the empty string.
PARTS = ["eval", "[a-z]+", r"\bTODO\b", r"\d{2,4}", "(?i:secret)", "(a|bc)", r"\p{Lu}", "[^/]", ".", "x+?", "é", r"\."]

# Refusals of requests that fit the document: what the descriptions of the
# violations may say, by the field. Nothing else is excused.
REFUSALS = {
    # RE2 has no way to leave `.` and `..` out of what a pattern matches.
    "createReview": {"repo": r"neither `\.` nor `\.\.`"},
    "listReviews": {"repo": r"neither `\.` nor `\.\.`", "page_token": r"page"},
    # A page token is what an answer said, for the same filters.
    "listFindings": {"page_token": r"page"},
    # A message of white space says nothing.
    "createRule": {"message": r"is required: say"},
    # A chain of calls may give the body the id of another rule than the path, and fields that
    # rules of the type of the one in the path don't have.
    "updateRule": {
        "message": r"is required: say", "id": r"can't be changed", "pattern": r"with type|is required",
        **dict.fromkeys(("in", "multiline", "redact", "languages"), r"with type"),
        **dict.fromkeys(("entropy", "checksum", "stopwords", "allow"), r"with type"),
        **dict.fromkeys(("any", "all", "not", "inside", "not_inside", "has", "where", "focus"), r"for rules of type"),
        **dict.fromkeys(("sources", "sinks", "sanitizers"), r"for rules of type|with type"),
        "fix": r"is not allowed with",
    },
    "batchRules": {"rules": r"is required: say"},
    "tryRules": {"rules": r"is required: say", "repo": r"neither `\.` nor `\.\.`"},
    # Which of the fields is given, the document can't say.
    "rotateConnectionSecret": {"token": r"say which secret"},
    # The format of the webhook is not in the request.
    "rotateWebhookSecret": {"webhook_id": r"slack are not signed"},
    "getRule": {"since": r"the last day"},
    # A request without a body has no pattern.
    "testRule": {"pattern": r"is required"},
    "getPullRequest": {"repo": r"neither `\.` nor `\.\.`"},
    "listThreads": {"repo": r"neither `\.` nor `\.\.`"},
    "listPullRequests": {"repo": r"neither `\.` nor `\.\.`", "page_token": r"page"},
    "republishPullRequest": {"repo": r"neither `\.` nor `\.\.`"},
    "listTriage": {"repo": r"neither `\.` nor `\.\.`", "page_token": r"page"},
    "setTriage": {"repo": r"neither `\.` nor `\.\.`", "until": r".", "reason": r"."},
    # Bounds of a range of lines come together, for one file.
    "getDiff": {"from": r"given together", "to": r"given together|at most|less|lines", "files": r"one file", "page_token": r"page"},
    "getTrends": {"since": r"the last day", "repo": r"neither `\.` nor `\.\.`"},
    "searchFindings": {"page_token": r"page", "repo": r"neither `\.` nor `\.\.`"},
    # What a word is, the document can't say.
    "listRepositories": {"page_token": r"page", "query": r"at most 5 words"},
    # A window has at most 400 days, the last of which is not before the first.
    "listRuleStats": {"since": r"the last day", "repo": r"neither `\.` nor `\.\.`", "page_token": r"page"},
}
# No text has U+0000, which the document says once, and not in the pattern of
# every field.
EVERYWHERE = r"must not contain the character U\+0000"

addresses = itertools.count(int(ipaddress.ip_address("198.18.0.1")))


def add_address(adapter, request, **kwargs):
    """Gives each request an address of its own, which the server believes.

    Requests without a key count against it.
    """
    request.headers["X-Forwarded-For"] = str(ipaddress.ip_address(next(addresses)))


requests.adapters.HTTPAdapter.add_headers = add_address


def operation_id(case):
    return case.operation.definition.raw.get("operationId", "")


@schemathesis.hook
def before_call(context, case, kwargs):
    # A run that revoked its own key would end there.
    if operation_id(case) == "deleteKey" and case.path_parameters.get("key_id") == OWN_KEY:
        case.path_parameters["key_id"] = "key_notmine"


# Fields with an enumeration, which Protobuf JSON takes as a number, too.
ENUMERATIONS = {"type", "severity", "scope", "mode", "fail_on", "priority", "up_to", "tolerated", "kind", "role"}


def lenient(value, name=""):
    """Whether a broken body holds what Protobuf JSON takes all the same: null, or the number of a word."""
    if isinstance(value, dict):
        return any(lenient(member, name) for name, member in value.items())
    if isinstance(value, list):
        return any(lenient(member, name) for member in value)
    return value is None or name in ENUMERATIONS and isinstance(value, (int, float))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """A condition has conditions in it. Those of the second level are left out, or trying all forms doesn't end."""
    nested = ("all", "any", "has", "inside", "not", "not_inside")
    for name in ("ConditionInput", "ConditionTestInput"):
        properties = raw_schema["components"]["schemas"][name]["properties"]
        for key in nested:
            properties.pop(key, None)


@schemathesis.hook
def filter_case(context, case):
    """Leaves out broken requests that are read as something else."""
    if case.meta is None or case.meta.generation.mode.is_positive:
        return True
    return not lenient(case.body)


@schemathesis.hook
def map_case(context, case):
    files = (case.query or {}).get("files")
    if isinstance(files, list):  # a server takes 32 KiB of headers, the address among them
        case.query["files"] = [path for path in files if len(str(path)) < 300]
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return case
    if case.query:
        mend_query(case)
    if isinstance(case.body, dict):
        body = case.body = dict(case.body)
        mend = MENDERS.get(operation_id(case))
        if mend is not None:
            mend(body)
        if case.query and "update_mask" in case.query:
            case.query["update_mask"] = ",".join(sorted(body.keys() - {"etag"}))
    return case


def mend_query(case):
    query = case.query = {name: value for name, value in case.query.items() if name != "page_token"}
    if choice_of(query) % 4:  # a quarter stays what it is
        today = datetime.datetime.now(datetime.timezone.utc).date()
        for name, days in ("since", 20), ("until", 10):
            if operation_id(case) == "listRuleStats" and name in query:
                query[name] = str(today - datetime.timedelta(days=days))


def choice_of(body):
    """A number that is the same whenever the request is: a chain that is tried again has to be the same chain."""
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())


def mend_review(body):
    choice = choice_of(body)
    if choice % 4:  # a quarter stays what it is: no such repository
        body["repo"], body["pr_number"] = REPOSITORY, 1 + choice % 3
    if "ruleset" in body:
        body["ruleset"] = ["default", "custom", body["repo"]][choice % 3]
    given = body.pop("head_sha", None), body.pop("base_sha", None), body.pop("base_ref", None)
    if any(given):
        body["head_sha"] = HEAD
        if given[2] is None:
            body["base_sha"] = BASE
        else:
            body["base_ref"] = "main"


def mend_pattern(body):
    """Makes an RE2 pattern of the words of the text that is there, and parts."""
    choice = choice_of(body)
    words = re.sub(r"[^0-9A-Za-z_ ]", "", body.get("pattern", ""))[:200]
    body["pattern"] = words + PARTS[choice % len(PARTS)] + PARTS[choice // 16 % len(PARTS)]


def mend_rule(body, suffix=""):
    mend_pattern(body)
    choice = choice_of(body)
    if choice % 3 or suffix:  # the rest may meet ids that are taken
        body["id"] = f"{body['id'].split('/')[0][:60]}-{choice}{suffix}"
    body.pop("repo", None)
    if body.get("scope") == "repo":
        body["repo"] = REPOSITORY
    for name in ("cases", "paths"):
        body.pop(name, None)
    if choice % 2:
        body["paths"] = {"include": ["**/*.go", "src/**"], "exclude": ["**/testdata/**"]}
    mend_lists(body, choice)
    mend_structure(body)


def mend_structure(body):
    """Rules of type structure have code as their pattern, and fewer fields; others have no conditions of code."""
    if body.get("in"):
        body["in"] = sorted(set(body["in"]))
    given = [name for name in CONDITION if body.pop(name, None)]
    body.pop("depth", None)
    followed = [name for name in TAINT if body.pop(name, None)]
    if "fix" in body:
        body["fix"] = "fixed"
        if body.get("redact") or body.get("multiline"):
            body.pop("fix")
    if body.pop("words", None) and body.get("type") == "spelling":
        body["words"] = {"doesnt": "doesn't", "atleast": "at least"}
    if body.get("type") == "spelling":
        for name in ("pattern", "redact", "multiline", "entropy", "checksum", "stopwords", "fix"):
            body.pop(name, None)
    if body.get("type") == "taint":
        for name in ("pattern", "redact", "multiline", "in", "entropy", "checksum", "stopwords", "allow", "fix"):
            body.pop(name, None)
        body["languages"] = ["go", "javascript"]
        for name in {"sources", "sinks", *followed}:
            body[name] = TAINT[name]
    if body.get("type") != "structure":
        return
    choice = choice_of(body)
    body["pattern"], body["languages"] = f"f{choice}($X)", ["go"]
    for name in ("multiline", "in", "entropy", "checksum", "stopwords", "allow"):
        body.pop(name, None)
    for name in given:
        body[name] = CONDITION[name]


TAINT = {
    "sources": [{"pattern": "$R.FormValue($_)"}, {"pattern": "req.query"}],
    "sinks": [{"pattern": "run($X, $$$)", "focus": "X"}],
    "sanitizers": [{"pattern": "quote($$$)"}],
}

CONDITION = {
    "any": [{"pattern": "$_($Y)"}, {"pattern": "g($Y)"}],
    "all": [{"pattern": "$_($Z)"}],
    "not": {"pattern": "c()"},
    "inside": {"pattern": "if $C { $$$ }"},
    "not_inside": {"pattern": "for { $$$ }"},
    "has": {"pattern": "e"},
    "where": {"X": {"regex": "^[a-z]"}},
    "focus": "X",
}


def mend_lists(body, choice):
    if "references" in body:
        body["references"] = [f"https://example.com/{choice}"]
    if "languages" in body:
        body["languages"] = ["go", "C++", "golang"][: choice % 4]
    mend_conditions(body, choice)


def mend_conditions(body, choice):
    """Groups and patterns are of the rule's pattern, and some don't go with multiline."""
    if "entropy" in body:
        body["entropy"] = {"min": choice % 9, "group": 0}
    for name, value in (("stopwords", "example"), ("allow", "^xx*$"), ("supersedes", "other")):
        if body.get(name):
            body[name] = [value]
    if body.get("multiline"):
        body.pop("supersedes", None)
    if body.get("confidence") == "low" and body.get("severity") in ("critical", "high"):
        body.pop("confidence")


def mend_trial(body):
    mend_pattern(body)
    mend_lists(body, choice_of(body))
    mend_structure(body)


def mend_rules(body):
    body["rules"] = [dict(rule) for rule in body.get("rules", [])]
    for number, rule in enumerate(body["rules"]):
        mend_rule(rule, f"-{number}")
    if "repo" in body:  # of a trial
        body["repo"] = REPOSITORY
    if body.get("prune"):  # rules of other chains
        body["dry_run"] = True
    mend_etag(body)


def mend_change(body):
    choice = choice_of(body)
    for name in ("id", "cases", "paths"):  # no id can be changed
        body.pop(name, None)
    if "pattern" in body:
        mend_pattern(body)
    # A scope without its repository fits some rules only.
    body.pop("repo", None)
    if body.pop("scope", None) == "repo":
        body["scope"], body["repo"] = "repo", REPOSITORY
    if "type" in body:
        body["type"] = "regex"  # the rest of the rule is of one
    mend_lists(body, choice)
    mend_structure(body)
    mend_etag(body)
    if not body.keys() - {"etag"}:
        body["enabled"] = True


def mend_policy(body):
    if "disable" in body:
        body["disable"] = ["hygiene/js-debug-log"]
    if "override" in body:
        body["override"] = {"security/c-weak-crypto": {"severity": "low", "exclude": ["legacy/**"]}}
    if "locked" in body:
        body["locked"] = {**body["locked"], "rules": ["secrets/*"]}
        if "default" in body["locked"].get("rulesets", []):
            body.pop("disable", None)  # what is locked can't be off
    mend_etag(body)


def mend_etag(body):
    if choice_of(body) % 4:  # a quarter is of other content
        body.pop("etag", None)


def mend_key(body):
    if "expires_at" in body:
        body["expires_at"] = "2099-01-01T00:00:00Z"
    if "rate_limit" in body:
        body["rate_limit"] = min(body["rate_limit"], RATE_LIMIT)


def mend_connection(body):
    choice = choice_of(body)
    for name in ("app_id", "installation_id", "private_key", "account"):  # of an App, which goes without a token
        body.pop(name, None)
    body.update(name=f"c-{choice}", kind=["github", "gitlab", "gitea", "forgejo"][choice % 4], url="https://127.0.0.1:1")
    body.update(repositories=["acme/*"], token="token")
    for name, value in ("api_url", "https://127.0.0.1:1/api"), ("git_url", "https://127.0.0.1:1/{repo}.git"):
        if name in body:
            body[name] = value
    mend_secrets(body)


def mend_setup(body):
    body.update(name=f"s-{choice_of(body)}", account="acme", url="https://127.0.0.1:1", repositories=["acme/*"])
    for name, value in ("api_url", "https://127.0.0.1:1/api"), ("git_url", "https://127.0.0.1:1/{repo}.git"):
        if name in body:
            body[name] = value


def mend_secrets(body):
    for name in ("token", "git_token"):
        if name in body:
            body[name] = "token"
    if "webhook_secret" in body:
        body["webhook_secret"] = "x" * 20


def mend_rotation(body):
    body.pop("private_key", None)
    if body.get("new_webhook_secret"):
        body.pop("webhook_secret", None)
    body["token"] = "token"
    mend_secrets(body)


def mend_connection_change(body):
    for name in ("installation_id", "account"):
        body.pop(name, None)
    body["repositories"] = ["acme/*"]
    if "name" in body:
        body["name"] = f"c-{choice_of(body)}"


def mend_invitation(body):
    body["email"] = f"p{choice_of(body)}@example.com"


def mend_webhook(body):
    choice = choice_of(body)
    if "name" in body:
        body["name"] = f"w-{choice}"
    if "url" in body:
        body["url"] = f"https://127.0.0.1:1/{choice}"


MENDERS = {
    "createInvitation": mend_invitation,
    "createWebhook": mend_webhook,
    "updateWebhook": mend_webhook,
    "createConnection": mend_connection,
    "setUpGitHubApp": mend_setup,
    "updateConnection": mend_connection_change,
    "rotateConnectionSecret": mend_rotation,
    "createReview": mend_review,
    "createRule": mend_rule,
    "updateRule": mend_change,
    "batchRules": mend_rules,
    "tryRules": mend_rules,
    "testRule": mend_trial,
    "setPolicy": mend_policy,
    "createKey": mend_key,
}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Tells which failures stay: all but the refusals that are known."""
    if type(failure).__name__ == "UseAfterFree" and operation_id(case) == "listRuleHistory":
        return False  # a rule that was deleted has its history
    if type(failure).__name__ == "ServerError" and reason_of(response) == "HOST_UNAVAILABLE":
        return False  # there is no such code host
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 400:
        return True
    excused = REFUSALS.get(operation_id(case), {})
    violations = [
        violation
        for detail in response.json()["details"]
        if detail["@type"].endswith("BadRequest")
        for violation in detail["field_violations"]
    ]
    return not violations or any(not is_excused(violation, excused) for violation in violations)


def reason_of(response):
    details = response.json()["details"]
    return next((detail["reason"] for detail in details if detail["@type"].endswith("ErrorInfo")), None)


def is_excused(violation, excused):
    if re.search(EVERYWHERE, violation["description"]):
        return True
    field = re.split(r"[.\[]", violation["field"], maxsplit=1)[0]
    return field in excused and re.search(excused[field], violation["description"]) is not None


@schemathesis.deserializer("application/x-ndjson")
def lines(ctx, response):
    """Reads a stream: every line has to be JSON, and the last one is checked."""
    return [json.loads(line) for line in response.content.splitlines()][-1]


@schemathesis.check
def documented_reason(ctx, response, case):
    """The reason of an error is one that the document names for the call and the status."""
    if response.status_code < 400:
        return
    definition = case.operation.definition.raw
    if case.method.upper() != case.operation.method.upper():
        return  # another method than the document's
    documented = definition["responses"].get(str(response.status_code))
    if documented is None:
        return  # status_code_conformance says so
    if "$ref" in documented:
        name = documented["$ref"].rsplit("/", 1)[1]
        documented = case.operation.schema.raw_schema["components"]["responses"][name]
    reasons = documented["content"]["application/json"]["examples"]
    reason = response.json()["details"][0]["reason"]
    if reason == "ROUTE_NOT_FOUND":
        # A path parameter that is empty or has a slash makes another path.
        return
    assert reason in reasons, f"{operation_id(case)}: {response.status_code} {reason} is not documented"
