// Package seal keeps secrets unreadable without a key of the operator. Each secret has
// a data key of its own, which a named key wraps, so that another named key can take
// over without the secret being seen. What was sealed for one row opens in no other.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrNoKey is the error of sealing without any key.
var ErrNoKey = errors.New("there is no key to seal secrets with")

// keySize is the size of keys in bytes: AES-256.
const keySize = 32

// Key is a named key of the operator.
type Key struct {
	name string
	aead cipher.AEAD
}

// Name is its name.
func (k Key) Name() string { return k.name }

// Sealer seals by its first key and opens by any. It is safe for concurrent use.
type Sealer struct {
	file    string // that has the key when none is given; "" for none
	created func(file string)

	mu   sync.Mutex
	keys []Key
}

// New returns a sealer with the keys, of which the first one seals.
func New(keys ...Key) *Sealer { return &Sealer{keys: keys} }

// sealed is a secret as it is stored.
type sealed struct {
	Key     string `json:"key"`     // name of the key that wraps the data key
	Wrapped []byte `json:"wrapped"` // the data key
	Secret  []byte `json:"secret"`  // sealed by the data key
}

// Seal seals a secret for a row: the table, and what identifies the row there. It fails
// with ErrNoKey, and when a key file can't be made.
func (s *Sealer) Seal(secret []byte, row string) ([]byte, error) {
	k, err := s.first()
	if err != nil {
		return nil, err
	}
	dataKey := make([]byte, keySize)
	_, _ = rand.Read(dataKey) // never fails

	return json.Marshal(sealed{
		Key: k.name, Wrapped: k.wrap(dataKey, row), Secret: newAEAD(dataKey).Seal(nil, nil, secret, []byte(row)),
	})
}

// Open returns the secret that was sealed for a row. The error is a sentence for the
// operator, which names the key that is missing or another one than it was.
func (s *Sealer) Open(stored []byte, row string) ([]byte, error) {
	v, _, dataKey, err := s.unwrap(stored, row)
	if err != nil {
		return nil, err
	}
	secret, err := newAEAD(dataKey).Open(nil, nil, v.Secret, []byte(row))
	if err != nil {
		return nil, errDamaged
	}

	return secret, nil
}

// Reseal wraps the data key of a secret by the first key. The secret itself stays as it
// is; changed is false when that key has wrapped it already.
func (s *Sealer) Reseal(stored []byte, row string) (out []byte, changed bool, err error) {
	first, err := s.first()
	if err != nil {
		return nil, false, err
	}
	v, by, dataKey, err := s.unwrap(stored, row)
	if err != nil || by.name == first.name {
		return stored, false, err
	}
	v.Key, v.Wrapped = first.name, first.wrap(dataKey, row)
	out, err = json.Marshal(v)

	return out, true, err
}

var errDamaged = errors.New("what was sealed is damaged, or belongs to another row")

// unwrap returns what is stored with its data key and the key that opened it.
func (s *Sealer) unwrap(stored []byte, row string) (v sealed, by Key, dataKey []byte, err error) {
	if err := json.Unmarshal(stored, &v); err != nil {
		return v, by, nil, errDamaged
	}
	by, ok := s.named(v.Key)
	if !ok {
		return v, by, nil, fmt.Errorf("the key %q, which sealed it, is missing", v.Key)
	}
	dataKey, err = by.aead.Open(nil, nil, v.Wrapped, by.identity(row))
	if err != nil || len(dataKey) != keySize {
		return v, by, nil, fmt.Errorf("the key %q is not the one that sealed it, or it is damaged", v.Key)
	}

	return v, by, dataKey, nil
}

// first returns the key that seals. Where there is none yet its file is made.
func (s *Sealer) first() (Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.keys) > 0 {
		return s.keys[0], nil
	}
	if s.file == "" {
		return Key{}, ErrNoKey
	}

	k, made, err := makeFile(s.file)
	if err != nil {
		return Key{}, fmt.Errorf("the file of the key that seals secrets can't be made: %w", err)
	}
	if made && s.created != nil {
		s.created(s.file)
	}
	s.keys = []Key{k}

	return k, nil
}

// named returns the key of a name. Another process may have made the file meanwhile.
func (s *Sealer) named(name string) (Key, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.keys, func(k Key) bool { return k.name == name })
	if i >= 0 {
		return s.keys[i], true
	}
	if s.file == "" {
		return Key{}, false
	}
	k, err := readFile(s.file)
	if err != nil || k.name != name {
		return Key{}, false
	}
	s.keys = append(s.keys, k)

	return k, true
}

func (k Key) wrap(dataKey []byte, row string) []byte {
	return k.aead.Seal(nil, nil, dataKey, k.identity(row))
}

// identity is what a wrapped data key belongs to.
func (k Key) identity(row string) []byte { return []byte(k.name + "\x00" + row) }

// newAEAD returns AES-256-GCM with a random nonce before what it seals. A data key
// seals once, and a named key far fewer than the 2^32 times that random nonces allow.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // keys have keySize
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that it wants
	}

	return aead
}
