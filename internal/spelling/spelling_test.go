package spelling_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/spelling"
)

var own = spelling.NewList(map[string]string{"atleast": "at least", "doesnt": "doesn't", "recieve": "take", "zu": "to"})

func TestNext(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ line, want string }{
		"a word":                     {"wait until the message is recieved", "recieved"},
		"the first":                  {"the seperate message is recieved", "seperate"},
		"in upper case at first":     {"// Seperate the parts", "Seperate"},
		"in upper case":              {"// the SEPERATE parts", "SEPERATE"},
		"short in upper case":        {"// the TEH parts", ""},
		"in other cases":             {"// the sepErate and SEPERAte parts", ""},
		"of three letters":           {"// in teh parts that are here", "teh"},
		"of one's own":               {"// it needs atleast two", "atleast"},
		"too short for one's own":    {"// it is zu this", ""},
		"none":                       {"// it is received", ""},
		"nothing":                    {"", ""},
		"in brackets":                {"the list (seperate)", "seperate"},
		"after a quote":              {`"seperate" is the name`, ""},
		"in backticks":               {"the `seperate` name", ""},
		"as the begin of a string":   {`"seperate the list"`, "seperate"},
		"at a full stop":             {"the list is seperate. It is", "seperate"},
		"at the last full stop":      {"the list is seperate.", "seperate"},
		"a full stop of Windows":     {"the list is seperate.\r", "seperate"},
		"a method":                   {"if the seperate.call() is", ""},
		"of a method":                {"if the x.seperate is it", ""},
		"a call":                     {"if the seperate() is", ""},
		"with an underscore":         {"if the seperate_all and all_seperate is", ""},
		"with a number":              {"if the seperate2 is", ""},
		"with a hyphen":              {"if the seperate-all is", ""},
		"with an apostrophe":         {"if the seperate's is", ""},
		"in an address":              {"see https://example.com/seperate/x for the rest", ""},
		"of a file":                  {"see the seperate.go for the rest", ""},
		"in a field":                 {"the seperate!.value or seperate?.value is", ""},
		"before marks":               {"is it seperate? and", "seperate"},
		"behind a word":              {"the one/seperate word", "seperate"},
		"a frequent word of English": {"Il seperate and", "seperate"},
		"three that others have":     {"in a seperate as", "seperate"},
		"two that others have":       {"a seperate as", ""},
		"the same word thrice":       {"a seperate a a", ""},
		"no frequent word":           {"seperate process", ""},
		"a short comment":            {"# seperate process", "seperate"},
		"a short comment of C":       {"\t/* seperate process */", "seperate"},
		"a long comment":             {"// seperate process one two three four five", ""},
		"a heading":                  {"## Contribuer", ""},
		"an item":                    {"- Git >= **2.19.0** (pour supporter le clonage partiel)", ""},
		"French":                     {"facilitant la personnalisation et l'ajout d'extensions.", ""},
		"Spanish":                    {"se muestran los problemas y las tendencias", ""},
		"Portuguese":                 {"importas a lista do autor", ""},
		"German":                     {"# Der Autor der Konfiguration für alle", ""},
		"a letter of others":         {"the seperate naïve list", ""},
		"a mark that is no letter":   {"the seperate list — and “more” …", "seperate"},
		"bytes that are no text":     {"the seperate list \xff\xfe", "seperate"},
		"a name":                     {"first_name: Margart", ""},
		"far from English":           {"the list" + strings.Repeat(" x", 100) + " seperate", ""},
		"English behind what is not": {"é seperate" + strings.Repeat(" x", 120) + " and the seperated", "seperated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			word, work, ok := own.Next([]byte(tt.line), 0, len(tt.line))
			assert.Equal(t, tt.want != "", ok)
			assert.Equal(t, tt.want, tt.line[word.Start:word.End])
			assert.GreaterOrEqual(t, work, word.End)
		})
	}
}

func TestNextFrom(t *testing.T) {
	t.Parallel()
	line := []byte("the seperate and the seperated")
	word, _, ok := own.Next(line, len("the seperate"), len(line))
	assert.True(t, ok)
	assert.Equal(t, "seperated", string(line[word.Start:word.End]))
	_, _, ok = own.Next(line, word.End, len(line))
	assert.False(t, ok)
}

func TestRight(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"seperate": "separate", "Seperate": "Separate", "SEPERATE": "SEPARATE",
		"atleast": "at least", "Atleast": "At least", "DOESNT": "DOESN'T", "recieve": "take",
		"separate": "", "se": "", "": "", "seperate2": "", strings.Repeat("a", 51): "",
	} {
		right, ok := own.Right([]byte(word))
		assert.Equal(t, want, right, word)
		assert.Equal(t, want != "", ok, word)
	}
	var common spelling.List
	right, _ := common.Right([]byte("recieve"))
	assert.Equal(t, "receive", right)
}

// No word of a sentence that is right costs memory.
func TestNextAllocates(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	line := []byte("// The words of this sentence are all right, and so NOTHING is allocated for them.")
	own.Next(line, 0, len(line))
	assert.Zero(t, testing.AllocsPerRun(100, func() { own.Next(line, 0, len(line)) }))
}

// FuzzNext holds that words are inside the line, that each has another spelling, and that the
// search goes on within its work.
func FuzzNext(f *testing.F) {
	f.Add([]byte("// wait until teh message is Recieved, SEPERATE it"))
	f.Add([]byte("é seperate a seperate as"))
	f.Add([]byte("the \xff seperate. And"))
	f.Fuzz(func(t *testing.T, line []byte) {
		all := 0
		for at := 0; ; {
			word, work, ok := own.Next(line, at, len(line))
			all += work
			if !ok {
				break
			}
			assert.True(t, at <= word.Start && word.Start < word.End && word.End <= len(line))
			right, known := own.Right(line[word.Start:word.End])
			assert.True(t, known)
			assert.NotEqual(t, string(line[word.Start:word.End]), right)
			at = word.End
		}
		assert.LessOrEqual(t, all, 500*(len(line)+1))
	})
}

func BenchmarkNext(b *testing.B) {
	line := []byte("// The words of this sentence are all right, and so nothing of them is found or allocated.")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		own.Next(line, 0, len(line))
	}
}
