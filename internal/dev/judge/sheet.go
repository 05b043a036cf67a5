package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// question is what a reader answers of each hit.
const question = "A hit is useful when a careful maintainer would change the line or want to have been told.\n" +
	"Fill in \"verdict\" (useful or not) and \"reason\" in verdicts.jsonl; the hits have the same order there.\n\n"

// sheet makes a folder for each reader: all hits in an order of the reader's own, and the file of verdicts to fill in.
// Its arguments are files of earlier verdicts, of which those on the same hits are taken over.
func sheet(flags *flag.FlagSet) func(context.Context, io.Writer, []string) error {
	from := flags.String("hits", "", "the `folder` that hits wrote")
	dir := flags.String("out", "", "the `folder` for one folder a reader; it must not be there yet")
	seed := flags.Uint64("seed", 1, "the seed of the order")
	projects := flags.String("projects", "internal/dev/judge/data/projects.jsonl", "the `file` with the list of projects")
	names := flags.String("readers", "", "the two readers' `names`, with a comma between them")

	return func(_ context.Context, out io.Writer, earlier []string) error {
		readers := strings.Split(*names, ",")
		if *from == "" || *dir == "" || len(readers) != 2 || readers[0] == readers[1] {
			return errors.New("sheet needs -hits, -out and -readers with two names")
		}
		in, err := readInput(*from, *projects, earlier)
		if err != nil {
			return err
		}
		contexts, err := contextsOf(*from, in.hits)
		if err != nil {
			return err
		}
		if err := os.Mkdir(*dir, 0o755); err != nil {
			return err
		}
		if err := in.markRead(time.Now()); err != nil {
			return err
		}
		if err := writeLines(*projects, in.projects); err != nil {
			return err
		}

		for i, reader := range readers {
			random := rand.New(rand.NewPCG(*seed, uint64(i)))
			forms, text := in.forms(reader, random, contexts)
			path := filepath.Join(*dir, reader)
			if err := writeLines(filepath.Join(path, "verdicts.jsonl"), forms); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(path, "hits.txt"), []byte(question+text), 0o600); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%d hits for each of %s in %s\n", len(in.hits), strings.Join(readers, " and "), *dir)
		return nil
	}
}

// contextsOf are the texts about hits, by their ids.
func contextsOf(dir string, hits []hit) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, contextsFile))
	if err != nil {
		return nil, err
	}
	contexts := map[string]string{}
	for _, block := range strings.Split("\n"+string(text), "\n"+blockMark)[1:] {
		id, _, _ := strings.Cut(block, " ")
		contexts[id] = blockMark + block
	}
	for _, h := range hits {
		if contexts[h.ID] == "" {
			return nil, fmt.Errorf("%s has no hit %s", contextsFile, h.ID)
		}
	}
	return contexts, nil
}

// forms are the verdicts that a reader is to give, in a random order, and the texts about their hits; behind them the
// verdicts that the reader gave before.
func (in input) forms(reader string, random *rand.Rand, contexts map[string]string) ([]judgement, string) {
	var forms, given []judgement
	var text strings.Builder
	for _, i := range random.Perm(len(in.hits)) {
		form := judgement{Hit: in.hits[i].ID, Reader: reader}
		known := slices.IndexFunc(in.verdicts, func(v judgement) bool { return v.Hit == form.Hit && v.Reader == reader })
		if known >= 0 {
			given = append(given, in.verdicts[known])
			continue
		}
		forms = append(forms, form)
		text.WriteString(contexts[form.Hit] + "\n")
	}
	return append(forms, given...), text.String()
}

// markRead says in the list of projects that hits are read from now on. It fails where an unseen project was read
// before, which nobody can judge without knowing its hits any more.
func (in input) markRead(now time.Time) error {
	if _, err := listed(in.projects); err != nil {
		return err
	}
	for _, s := range in.scans {
		i := slices.IndexFunc(in.projects, func(p project) bool { return strings.EqualFold(p.Project, s.Project) })
		if i < 0 {
			return fmt.Errorf("%s is not in the list of projects; add it with its group first", s.Project)
		}
		p := &in.projects[i]
		if p.Group == unseen && p.Read != "" {
			return fmt.Errorf("%s was read before: %s; it is unseen no more", s.Project, p.Read)
		}
		p.Read = cmp.Or(p.Read, now.UTC().Format(time.RFC3339))
		if err := p.checkUnseen(s.Time); err != nil {
			return err
		}
	}
	return nil
}
