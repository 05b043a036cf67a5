package match_test

import (
	"os"
	"syscall"
)

// guard returns a copy of text that lies between two pages that can't be read,
// right before the second or right after the first: an engine that reads a
// byte outside of a text it was given faults. The rest of the copy's own pages
// repeats the text, so that what is read there looks like more of it. free
// gives the memory back.
func guard(text []byte, atEnd bool) (copied []byte, free func()) {
	page := os.Getpagesize()
	inner := (len(text) + page) / page * page
	mapped, err := syscall.Mmap(
		-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE,
	)
	if err != nil {
		panic(err)
	}
	free = func() {
		if err := syscall.Munmap(mapped); err != nil {
			panic(err)
		}
	}
	body := mapped[page : page+inner]
	start := 0
	if atEnd {
		start = inner - len(text)
	}
	for i := range body {
		body[i] = 'a'
		if len(text) > 0 {
			body[i] = text[(i+len(text)-start%len(text))%len(text)]
		}
	}
	for _, p := range [][]byte{mapped[:page], mapped[page+inner:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			panic(err)
		}
	}

	return body[start : start+len(text) : start+len(text)], free
}
