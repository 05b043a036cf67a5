package main

import (
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
func sheet(flags *flag.FlagSet) func(context.Context, io.Writer, []string) error {
	from := flags.String("hits", "", "the `folder` that hits wrote")
	dir := flags.String("out", "", "the `folder` for one folder a reader")
	seed := flags.Uint64("seed", 1, "the seed of the order")
	projects := flags.String("projects", "internal/dev/judge/data/projects.jsonl", "the `file` with the list of projects")
	names := flags.String("readers", "", "the two readers' `names`, with a comma between them")

	return func(_ context.Context, out io.Writer, _ []string) error {
		readers := strings.Split(*names, ",")
		if *from == "" || *dir == "" || len(readers) != 2 || readers[0] == readers[1] {
			return errors.New("sheet needs -hits, -out and -readers with two names")
		}
		scans, err := readLines[scanned](filepath.Join(*from, scansFile))
		if err != nil {
			return err
		}
		contexts, err := contextsOf(*from)
		if err != nil {
			return err
		}
		if err := markRead(*projects, scans, time.Now()); err != nil {
			return err
		}

		ids := make([]string, 0, len(contexts))
		for id := range contexts {
			ids = append(ids, id)
		}
		for i, reader := range readers {
			slices.Sort(ids)
			random := rand.New(rand.NewPCG(*seed, uint64(i)))
			random.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
			if err := writeSheet(filepath.Join(*dir, reader), reader, ids, contexts); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%d hits for each of %s in %s\n", len(ids), strings.Join(readers, " and "), *dir)
		return nil
	}
}

// contextsOf are the texts about hits, by their ids.
func contextsOf(dir string) (map[string]string, error) {
	all, err := readLines[hit](filepath.Join(dir, hitsFile))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, contextsFile))
	if err != nil {
		return nil, err
	}

	contexts := map[string]string{}
	for _, block := range strings.Split("\n"+string(text), "\n"+blockMark)[1:] {
		id, _, _ := strings.Cut(block, " ")
		contexts[id] = blockMark + block
	}
	for _, h := range all {
		if contexts[h.ID] == "" {
			return nil, fmt.Errorf("%s has no hit %s", contextsFile, h.ID)
		}
	}
	if len(contexts) != len(all) {
		return nil, fmt.Errorf("%s has %d hits, %s %d", contextsFile, len(contexts), hitsFile, len(all))
	}
	return contexts, nil
}

func writeSheet(dir, reader string, ids []string, contexts map[string]string) error {
	var text strings.Builder
	text.WriteString(question)
	var forms []judgement
	for _, id := range ids {
		text.WriteString(contexts[id] + "\n")
		forms = append(forms, judgement{Hit: id, Reader: reader})
	}

	path := filepath.Join(dir, "verdicts.jsonl")
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s is there already", path)
	}
	if err := writeLines(path, forms); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "hits.txt"), []byte(text.String()), 0o600)
}

// markRead writes into the list of projects that hits are read from now on. It fails where an unseen project was read
// before, which nobody can judge without knowing its hits any more.
func markRead(path string, scans []scanned, now time.Time) error {
	projects, err := readLines[project](path)
	if err != nil {
		return err
	}
	if _, err := listed(projects); err != nil {
		return err
	}

	for _, s := range scans {
		i := slices.IndexFunc(projects, func(p project) bool { return strings.EqualFold(p.Project, s.Project) })
		switch {
		case i < 0:
			return fmt.Errorf("%s is not in %s; add it with its group first", s.Project, path)
		case projects[i].Group == unseen && projects[i].Read != "":
			return fmt.Errorf("%s was read before: %s; it is unseen no more", s.Project, projects[i].Read)
		case projects[i].Group == unseen && !mayBeUnseen(s.Project):
			return fmt.Errorf("%s is kept for later: its SHA-256 begins with c to f", s.Project)
		case projects[i].Read == "":
			projects[i].Read = now.UTC().Format(time.RFC3339)
		}
	}
	return writeLines(path, projects)
}
