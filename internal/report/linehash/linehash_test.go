package linehash_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/prwarden/prwarden/internal/report/linehash"
)

// The texts and hashes of the action's own tests:
// https://github.com/github/codeql-action/blob/main/src/fingerprints.test.ts
func TestGitHubsCases(t *testing.T) {
	t.Parallel()
	greetings := []string{
		"e9496ae3ebfced30:1", "fb7c023a8b9ccb3f:1", "ce8ba1a563dcdaca:1", "e20e36e16fcb0cc8:1",
		"b3edc88f2938467e:1", "c8e28b0b4002a3a0:1", "c129715d7a2bc9a3:1",
	}

	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"empty": {"", []string{"c129715d7a2bc9a3:1"}},
		"blanks": {
			" a\nb\n  \t\tc\n d", []string{"271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"},
		},
		"no ending": {
			" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
			[]string{"8b7cf3e952e7aeb2:1", "b1ae1287ec4718d9:1", "bff680108adb0fcc:1",
				"c6805c5e1288b612:1", "b86d3392aea1be30:1", "e6ceba753e1a442:1"},
		},
		"LF":    {" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", greetings},
		"CR":    {" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", greetings},
		"CRLF":  {" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", greetings},
		"mixed": {" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n", greetings},
		"repeated": {strings.Repeat("Lorem ipsum dolor sit amet.\n", 10), []string{
			"a7f2ff13bc495cf2:1", "a7f2ff13bc495cf2:2", "a7f2ff13bc495cf2:3", "a7f2ff13bc495cf2:4", "a7f2ff13bc495cf2:5",
			"a7f2ff13bc495cf2:6",
			"a7f2ff1481e87703:1", "a9cf91f7bbf1862b:1", "55ec222b86bcae53:1", "cc97dc7b1d7d8f7b:1", "c129715d7a2bc9a3:1",
		}},
		"short lines": {"x = 2\nx = 1\nprint(x)\nx = 3\nprint(x)\nx = 4\nprint(x)\n", []string{
			"e54938cc54b302f1:1", "bb609acbe9138d60:1", "1131fd5871777f34:1", "5c482a0f8b35ea28:1",
			"54517377da7028d2:1", "2c644846cb18d53e:1", "f1b89f20de0d133:1", "c129715d7a2bc9a3:1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []int
			for i, want := range tt.want {
				all = append(all, i+1)
				assert.Equal(t, want, linehash.Of([]byte(tt.text), []int{i + 1})[0].Text)
			}

			var got []string
			for _, h := range linehash.Of([]byte(tt.text), all) {
				got = append(got, h.Text)
			}

			assert.Equal(t, tt.want, got)
			assert.Equal(t, linehash.Hash{}, linehash.Of([]byte(tt.text), []int{len(tt.want) + 1})[0], "no such line")
		})
	}
}

// What the action computes for texts that are not ASCII, or not UTF-8.
func TestUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"é = \"😀\"\nx\n":             "27e77e3bb3025966:1",
		"\ufeffx\n":                  "51bfbc6e89697e4c:1",
		"a\xffb\n":                   "9f7bd17d959811b9:1",
		"a\xe2\x82b\n":               "9f7bd17d959811b9:1", // cut off: one U+FFFD, too
		"a\xed\xa0\x80b\n":           "617c8b9c28c9a89f:1", // a surrogate: three
		"a\xf0\x9f\x98":              "41ffb3469667910d:1",
		"a\xe0\x80\x80\xf4\x90b\xc3": "4cc19e8963890298:1",
		"a\u00a0\u3000\u2028b\x00\f": "3b8189f2de7ad72a:1", // blanks that count
	} {
		assert.Equal(t, want, linehash.Of([]byte(text), []int{1})[0].Text, "%q", text)
	}
}

func TestWhatAHashIsMadeOf(t *testing.T) {
	t.Parallel()
	text := []byte("  one \n" + strings.Repeat("x", 94) + " y\r z\n")
	got := linehash.Of(text, []int{1, 2, 3, 4})
	assert.Equal(t, "  one \n"+strings.Repeat("x", 94)+" y\r", string(text[got[0].Start:got[0].End]),
		"100 units and what does not count")
	assert.Equal(t, string(text[7:]), string(text[got[1].Start:got[1].End]))
	assert.Equal(t, " z\n", string(text[got[2].Start:got[2].End]))
	assert.Empty(t, text[got[3].Start:got[3].End])
	changed := bytes.Replace(text, []byte("z"), []byte("w"), 1)
	assert.Equal(t, got[0], linehash.Of(changed, []int{1})[0])
	assert.NotEqual(t, got[1], linehash.Of(changed, []int{2})[0])
}

// plain computes the hashes of all lines in the plainest way.
func plain(t *testing.T, text []byte) (all []string) {
	t.Helper()
	text, err := unicode.UTF8.NewDecoder().Bytes(text) // as the standard of encodings has it
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	var units []uint16
	begins := []int{}
	fresh := true
	add := func(u uint16) {
		if fresh {
			begins = append(begins, len(units))
		}

		fresh = u == '\n'
		units = append(units, u)
	}

	for _, r := range string(text) {
		if r == ' ' || r == '\t' {
			continue
		}

		for _, u := range utf16.Encode([]rune{r}) {
			add(u)
		}
	}

	add(0xFFFF)
	counts := map[string]int{}
	for _, b := range begins {
		sum := new(big.Int)
		for i := range 100 {
			sum.Mul(sum, big.NewInt(37))
			if b+i < len(units) {
				sum.Add(sum, big.NewInt(int64(units[b+i])))
			}
		}

		hash := sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), 64)).Text(16)
		counts[hash]++
		all = append(all, fmt.Sprintf("%s:%d", hash, counts[hash]))
	}
	return all
}

func FuzzOf(f *testing.F) {
	f.Add([]byte("a\r\n b\rc\n\n\té😀"), uint8(3))
	f.Add([]byte(strings.Repeat("Lorem ipsum dolor sit amet.\n", 10)), uint8(1))
	f.Add([]byte("\r \n\r\t\r\n"), uint8(2))
	f.Add([]byte("a\xe2\x82b\xed\xa0\x80\n\xe0\x80\x80\xf4\x90b\xf0\x9f\x98"), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, every uint8) {
		want := plain(t, text)
		var lines []int

		for n := 1; n <= len(want)+1; n += 1 + int(every) {
			lines = append(lines, n)
		}

		for i, h := range linehash.Of(text, lines) {
			if lines[i] > len(want) {
				require.Empty(t, h.Text)
				continue
			}

			require.Equal(t, want[lines[i]-1], h.Text, "line %d", lines[i])
			// Nothing outside counts.
			rest := append([]byte("\n"), text[h.Start:]...)
			require.Equal(t, cut(h.Text), cut(linehash.Of(rest, []int{2})[0].Text))
		}
	})
}

// cut is a hash without its number.
func cut(h string) string { hash, _, _ := strings.Cut(h, ":"); return hash }
