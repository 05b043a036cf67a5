package api

import (
	"context"
	"errors"
	"io"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// BatchRules implements RuleService. Over gRPC a document comes in parts, because
// messages of its size could be held for callers without a key.
func (h *Rules) BatchRules(
	stream grpc.ClientStreamingServer[prwardenv1.BatchRulesRequest, prwardenv1.BatchRulesResponse],
) error {
	ctx := stream.Context()
	if err := overload.FromContext(ctx).Hold(ctx, overload.LimitBatches, 1); err != nil {
		return err
	}
	push, err := receivePush(stream)
	if err != nil {
		return err
	}

	org := auth.FromContext(ctx).Organization
	plan, err := h.service.PushRules(ctx, org, push, h.turn)
	if err != nil {
		return err
	}
	return stream.SendAndClose(&prwardenv1.BatchRulesResponse{
		Changes: each(plan.Changes, toRuleChange), Etag: plan.Etag, Unchanged: clamp(plan.Unchanged),
		Created: clamp(plan.Count(rule.ActionCreate)), Updated: clamp(plan.Count(rule.ActionUpdate)),
		Deleted: clamp(plan.Count(rule.ActionDelete)),
	})
}

// receivePush reads the parts of a document.
func receivePush(
	stream grpc.ClientStreamingServer[prwardenv1.BatchRulesRequest, prwardenv1.BatchRulesResponse],
) (push rule.Push, err error) {
	for size, first := 0, true; ; first = false {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return push, nil
		}
		if err != nil {
			return push, err
		}

		if first {
			push.Prune, push.DryRun, push.Etag = part.GetPrune(), part.GetDryRun(), part.GetEtag()
		}
		// Over REST the body was measured, and as a message it may be larger.
		if size += proto.Size(part); size > rpc.MaxDocument && !first {
			return push, errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge,
				"The document is larger than 16 MiB (%d bytes), which is the most that this call takes.", rpc.MaxDocument)
		}
		if n := len(push.Rules) + len(part.GetRules()); n > rule.MaxCustomRules {
			return push, errs.Invalid("rules", "has more than %d entries", rule.MaxCustomRules)
		}
		push.Rules = append(push.Rules, each(part.GetRules(), fromRule)...)
	}
}

// turn is the organization's turn to try one pattern among those of a push. It
// waits for as long as ctx lasts.
func (h *Rules) turn(ctx context.Context) (done func(), err error) {
	for {
		done, err = h.trials.Acquire(ctx, auth.FromContext(ctx).Organization, 1)
		if !errors.Is(err, overload.ErrFull) {
			return done, err
		}
	}
}

func toRuleChange(c rule.Change) *prwardenv1.RuleChange {
	return &prwardenv1.RuleChange{Id: text(c.ID), Action: toAction(c.Action), Fields: c.Fields}
}

func toAction(a rule.Action) *prwardenv1.RuleChange_Action {
	return enum[prwardenv1.RuleChange_Action](string(a), prwardenv1.RuleChange_Action_value)
}

// ExportRules implements RuleService.
func (h *Rules) ExportRules(
	ctx context.Context, _ *prwardenv1.ExportRulesRequest,
) (*prwardenv1.ExportRulesResponse, error) {
	rules, etag, err := h.service.ExportRules(ctx, auth.FromContext(ctx).Organization)
	if err != nil {
		return nil, err
	}
	return &prwardenv1.ExportRulesResponse{Version: 1, Rules: each(rules, toRule), Etag: etag}, nil
}

// defaultVersions is how many versions of a rule are answered when nobody says how
// many.
const defaultVersions = 50

// ListRuleHistory implements RuleService.
func (h *Rules) ListRuleHistory(
	ctx context.Context, req *prwardenv1.ListRuleHistoryRequest,
) (*prwardenv1.ListRuleHistoryResponse, error) {
	size := int(req.GetPageSize())
	if size == 0 {
		size = defaultVersions
	}
	before := int64(0)
	if token := req.GetPageToken(); token != "" {
		place, ok := page.Place(token, req.GetId())
		var err error
		if before, err = strconv.ParseInt(place, 10, 64); !ok || err != nil || before < 1 {
			return nil, errs.Invalid("page_token", "is not one that an answer of this call had")
		}
	}

	versions, err := h.service.RuleHistory(ctx, auth.FromContext(ctx).Organization, req.GetId(), before, size+1)
	if err != nil {
		return nil, err
	}
	out := &prwardenv1.ListRuleHistoryResponse{}
	if len(versions) > size {
		versions = versions[:size]
		out.NextPageToken = page.Token(strconv.FormatInt(versions[size-1].Seq, 10), req.GetId())
	}
	out.Entries = each(versions, toVersion)
	return out, nil
}

func toVersion(v rule.Version) *prwardenv1.ListRuleHistoryResponse_Entry {
	e := &prwardenv1.ListRuleHistoryResponse_Entry{At: toTime(v.At), By: text(v.By), Action: toAction(v.Action)}
	if v.Rule != nil {
		e.Rule = toRule(v.Rule.Rule())
	}
	return e
}
