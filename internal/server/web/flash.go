package web

import (
	"encoding/base64"
	"encoding/json"
	"time"
)

// flash is what the next page says of what was just done.
type flash struct {
	Text string `json:"t,omitempty"`
	Bad  bool   `json:"b,omitempty"` // it failed

	// Undo is the identifier of a change that can be undone.
	Undo string `json:"u,omitempty"`
}

const flashCookie = "prwarden-flash"

// leaveFlash has the next page say something.
func (h *Handler) leaveFlash(v *visit, f flash) {
	text, _ := json.Marshal(f) // it has nothing that fails
	h.setCookie(v.w, flashCookie, base64.RawURLEncoding.EncodeToString(text), time.Minute)
}

// takeFlash returns what the page before left, once.
func (h *Handler) takeFlash(v *visit) (f flash) {
	c, err := v.r.Cookie(flashCookie)
	if err != nil {
		return flash{}
	}
	h.setCookie(v.w, flashCookie, "", 0)
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || json.Unmarshal(text, &f) != nil {
		return flash{}
	}

	return f
}
