package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxSecret is the most that is read of a secret, in bytes.
const maxSecret = 4 << 10

// ReadPassword asks for a new password twice on a terminal, which doesn't show it. From
// anything else it is the first line.
func ReadPassword(in *os.File, prompts io.Writer) (string, error) {
	if !Is(in) {
		return firstLine(in)
	}

	var typed [2]string
	for i, prompt := range []string{"Password: ", "Again: "} {
		fmt.Fprint(prompts, prompt)
		text, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(prompts)
		if err != nil {
			return "", err
		}
		typed[i] = string(text)
	}
	if typed[0] != typed[1] {
		return "", errors.New("the two passwords differ")
	}

	return typed[0], nil
}

func firstLine(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxSecret))
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", errors.New("there is no password in the input")
	}

	return line, nil
}
