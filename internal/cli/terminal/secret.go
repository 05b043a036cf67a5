package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxSecret is the most that is read of a secret, in bytes.
const maxSecret = 4 << 10

// ReadPassword asks for a new password twice on a terminal, which doesn't show it, until
// ctx ends. From anything else it is the first line.
func ReadPassword(ctx context.Context, in *os.File, prompts io.Writer) (string, error) {
	if !Is(in) {
		return firstLine(in)
	}

	var typed [2]string
	for i, prompt := range []string{"Password: ", "Again: "} {
		fmt.Fprint(prompts, prompt)
		text, err := readHidden(ctx, int(in.Fd()))
		fmt.Fprintln(prompts)
		if err != nil {
			return "", err
		}
		typed[i] = text
	}
	if typed[0] != typed[1] {
		return "", errors.New("the two passwords differ")
	}

	return typed[0], nil
}

// readHidden reads a line that the terminal doesn't show. Whoever interrupts that gets
// the terminal back as it was.
func readHidden(ctx context.Context, fd int) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		read <- line{text, err}
	}()

	select {
	case l := <-read:
		return string(l.text), l.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	}
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
