package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
)

// Source says where a key is: in a variable of the environment or in a file.
type Source struct {
	Name string `yaml:"name"`
	Env  string `yaml:"env"`
	File string `yaml:"file"`
}

// maxKeyFile is the most that is read of a key file, in bytes.
const maxKeyFile = 1 << 10

// Validate returns what is wrong with sources, nil for nothing. Fields are as the
// configuration file names them below `secrets`.
func Validate(sources []Source) errs.Violations {
	var v errs.Violations
	seen := map[string]bool{}
	for i, source := range sources {
		at := fmt.Sprintf("keys[%d].", i)
		if !regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`).MatchString(source.Name) {
			v.Add(at+"name", "%q is not allowed; it must be 1 to 63 lower-case letters, digits, dots, hyphens and "+
				"underscores, starting with a letter or digit", source.Name)
		}
		if seen[source.Name] {
			v.Add(at+"name", "%q is there twice", source.Name)
		}
		seen[source.Name] = true
		if (source.Env == "") == (source.File == "") {
			v.Add(at+"env", "a key is either in a variable (env) or in a file (file); give one of them")
		}
	}

	return v
}

// Load reads the keys of sources. An error names the variable or file, never what is in
// it.
func Load(sources []Source, lookup func(name string) string) (*Sealer, error) {
	keys := make([]Key, len(sources))
	for i, source := range sources {
		text, place := "", "the variable "+source.Env
		if source.File != "" {
			data, err := readKeyFile(source.File)
			if err != nil {
				return nil, fmt.Errorf("the key %q can't be read: %w", source.Name, err)
			}
			text, place = string(data), source.File
		} else {
			text = lookup(source.Env)
		}

		key, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("the key %q in %s %w", source.Name, place, err)
		}
		keys[i] = Key{name: source.Name, aead: newAEAD(key)}
	}

	return New(keys...), nil
}

// Beside returns a sealer whose key is in the file beside an SQLite database. The file
// is made when something is sealed first, which created is told.
func Beside(database string, created func(file string)) *Sealer {
	return &Sealer{file: FileOf(database), created: created}
}

// Or takes the key in the file beside an SQLite database, when there is one, for what it
// sealed before other keys were named. It seals nothing more.
func (s *Sealer) Or(database string) *Sealer {
	s.file = FileOf(database)

	return s
}

// FileOf is the file that has the key of an SQLite database.
func FileOf(database string) string { return database + ".key" }

var errForm = errors.New("must be 32 random bytes in base64, as `openssl rand -base64 32` prints them")

// parse reads a key: 32 bytes in base64.
func parse(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != keySize {
		return nil, errForm
	}

	return key, nil
}

func readKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read

	return io.ReadAll(io.LimitReader(f, maxKeyFile))
}

// readFile reads a file that makeFile made. Its key has a name that follows from it, so
// that another file in its place is not taken for it.
func readFile(path string) (Key, error) {
	data, err := readKeyFile(path)
	if err != nil {
		return Key{}, err
	}
	key, err := parse(string(data))
	if err != nil {
		return Key{}, fmt.Errorf("%s %w", path, err)
	}
	sum := sha256.Sum256(append([]byte("prwarden key "), key...))

	return Key{name: "file-" + hex.EncodeToString(sum[:6]), aead: newAEAD(key)}, nil
}

// makeFile makes a file with a new key, which only its owner can read, and reads it. A
// file that is there already, perhaps of another process at the same time, stays.
func makeFile(path string) (k Key, made bool, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return Key{}, false, err
	}
	defer func() { _ = os.Remove(f.Name()) }()

	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return Key{}, false, err
	}
	err = os.Link(f.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return Key{}, false, err
	}
	k, readErr := readFile(path)

	return k, err == nil, readErr
}
