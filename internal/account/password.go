package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"

	"github.com/prwarden/prwarden/internal/errs"
)

// Parameters of argon2id. Whoever raises them has passwords hashed again when their
// owners sign in.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	saltSize     = 16
	keySize      = 32
)

// maxHashing is how many passwords are hashed at once: each takes 19 MiB and a
// processor. hashWait is how long others wait.
const (
	maxHashing = 2
	hashWait   = 10 * time.Second
)

// Passwords hashes and verifies passwords. A process has one.
type Passwords struct{ slots *semaphore.Weighted }

// NewPasswords makes it.
func NewPasswords() *Passwords { return &Passwords{slots: semaphore.NewWeighted(maxHashing)} }

// Check returns what is wrong with a password that somebody chooses, as an
// InvalidArgument of a field. personal are texts that it must not be made of, such as
// the person's email.
func (p *Passwords) Check(field, password string, personal ...string) error {
	n := utf8.RuneCountInString(password)
	switch {
	case n < MinPassword || n > MaxPassword || !utf8.ValidString(password):
		return errs.Invalid(field, "must have %d to %d characters; it has %d", MinPassword, MaxPassword, n)
	case isCommon(password, personal...):
		return errs.Invalid(field,
			"is one of those that are guessed first; take another, such as four words that have nothing to do with each other")
	}

	return nil
}

// Hash returns what is stored of a password. It fails with Unavailable while too many
// others are hashed.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	key, err := p.derive(ctx, password, salt, cost{argonMemory, argonTime, argonThreads}, keySize)
	if err != nil {
		return "", err
	}

	encode := base64.RawStdEncoding.EncodeToString
	return parameters() + encode(salt) + "$" + encode(key), nil
}

// parameters is how what is stored begins.
func parameters() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, argonMemory, argonTime, argonThreads)
}

// Verify reports whether stored is of the password, and whether it is to be hashed
// again with today's parameters. For "", which no password has, it takes as long.
func (p *Passwords) Verify(ctx context.Context, stored, password string) (ok, stale bool, err error) {
	var version int
	var c cost
	salt, want := make([]byte, saltSize), make([]byte, keySize)
	head := parameters()
	if stored != "" {
		fields := strings.SplitAfterN(stored, "$", 5)
		if len(fields) < 5 {
			return false, false, fmt.Errorf("a stored password can't be read")
		}
		head = strings.Join(fields[:4], "")
		encodedSalt, encodedKey, _ := strings.Cut(fields[4], "$")
		var errSalt, errKey error
		salt, errSalt = base64.RawStdEncoding.DecodeString(encodedSalt)
		want, errKey = base64.RawStdEncoding.DecodeString(encodedKey)
		if errSalt != nil || errKey != nil || len(want) == 0 {
			return false, false, fmt.Errorf("a stored password can't be read")
		}
	}

	_, err = fmt.Sscanf(head, "$argon2id$v=%d$m=%d,t=%d,p=%d$", &version, &c.memory, &c.passes, &c.threads)
	if err != nil || version != argon2.Version {
		return false, false, fmt.Errorf("the parameters of a stored password can't be read")
	}
	got, err := p.derive(ctx, password, salt, c, uint32(len(want)))
	if err != nil {
		return false, false, err
	}
	same := subtle.ConstantTimeCompare(got, want) == 1

	return same && stored != "", head != parameters(), nil
}

// cost are the parameters of argon2id.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

func (p *Passwords) derive(ctx context.Context, password string, salt []byte, c cost, size uint32) ([]byte, error) {
	waiting, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	if err := p.slots.Acquire(waiting, 1); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errs.New(errs.Unavailable, errs.ReasonUnavailable,
			"Many people are signing in at the moment; try again.")
	}
	defer p.slots.Release(1)

	return argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.threads, size), nil
}
