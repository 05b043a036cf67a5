package git

import (
	"context"
	"io"
	"strings"
)

const (
	maxLinks  = 40   // that one leads through, as Linux has it
	maxTarget = 4096 // bytes of what is in a link

	// maxFollowed is the work to follow the links of a change: the bytes of directories
	// that are read, readWork for each of these and for each link, and stepWork for each
	// name.
	maxFollowed = 256 << 20
	readWork    = 4 << 10
	stepWork    = 64

	// maxHeld is how many bytes of directories are kept, since many links lead through
	// the same ones.
	maxHeld = 16 << 20
)

// follower follows the links of a change.
type follower struct {
	*change
	trees map[OID]map[string]dirEntry
	held  int // bytes of them
	work  int
	lacks []OID // links that are not here
}

// follow has links that lead to files of the head be looked at as these, as if they
// had been moved there: so all of them is matched by the rules that look at the link's
// path and not at theirs. Others stay files that hold where they lead to.
func (c *change) follow(ctx context.Context, files []changedFile, sizes map[OID]int64) (err error) {
	var links []*changedFile
	for i := range files {
		if f := &files[i]; f.newMode.kind() == typeSymlink && f.differs() {
			links = append(links, f)
		}
	}

	paths, targets := map[*changedFile]string{}, map[*changedFile]OID{}
	var blobs []OID
	way := follower{change: c, trees: map[OID]map[string]dirEntry{}}
	for len(links) > 0 { // what all links lack is fetched at once
		way.lacks = nil
		var stopped []*changedFile
		for _, f := range links {
			lacked := len(way.lacks)
			path, oid, err := way.target(ctx, f.path)
			if err != nil {
				return err
			}
			if len(way.lacks) > lacked {
				stopped = append(stopped, f)
			}
			if oid != "" {
				paths[f], targets[f], blobs = path, oid, append(blobs, oid)
			}
		}
		if links = stopped; c.repo.fetch == nil { // a partial clone lacks them
			break
		}
		if _, err := c.repo.ensure(ctx, way.lacks); err != nil {
			return err
		}
	}

	if c.repo.fetch != nil {
		_, err = c.repo.ensure(ctx, blobs)
	}
	if err == nil {
		_, err = c.repo.sizes(ctx, blobs, sizes) // a partial clone may lack some
	}
	for f, oid := range targets {
		if _, isHere := sizes[oid]; isHere {
			f.oldPath, f.old, f.now, f.oldMode, f.newMode = paths[f], oid, oid, typeFile, typeFile
			f.isFollowed = true
		}
	}
	return err
}

// target finds the file that a link of the head leads to in the end; none when that is
// outside, missing or no file.
func (f *follower) target(ctx context.Context, link string) (path string, oid OID, err error) {
	names, trees := []string{}, []OID{f.head.Tree} // where the way has led so far
	links := 0
	for way := strings.Split(link, "/"); len(way) > 0; {
		part := way[0]
		way = way[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(names) == 0:
			return "", "", nil
		case part == "..":
			names, trees = names[:len(names)-1], trees[:len(trees)-1]
			continue
		}

		entry, err := f.entry(ctx, trees[len(trees)-1], part)
		switch {
		case err != nil:
			return "", "", err
		case entry.mode == "40000":
			names, trees = append(names, part), append(trees, entry.oid())
		case entry.mode == "120000" && links < maxLinks:
			links++
			text, err := f.text(ctx, entry.oid())
			if err != nil || text == "" || text[0] == '/' {
				return "", "", err
			}
			way = append(strings.Split(text, "/"), way...)
		case strings.HasPrefix(entry.mode, "100") && len(way) == 0:
			return strings.Join(append(names, part), "/"), entry.oid(), nil
		default:
			return "", "", nil
		}
	}

	return "", "", nil
}

// entry finds a name in a directory.
func (f *follower) entry(ctx context.Context, tree OID, name string) (dirEntry, error) {
	if entries, isHeld := f.trees[tree]; isHeld {
		return entries[name], f.worked(stepWork)
	}
	content, err := f.repo.tree(ctx, tree)
	if err == nil {
		err = f.worked(readWork + len(content))
	}
	if err != nil {
		return dirEntry{}, err
	}
	if len(content) > maxHeld {
		return entryIn(content, name)
	}

	if f.held += len(content); f.held > maxHeld {
		clear(f.trees)
		f.held = len(content)
	}
	entries := map[string]dirEntry{}
	f.trees[tree] = entries
	err = eachEntry(content, func(name string, e dirEntry) bool {
		if _, isTwice := entries[name]; !isTwice {
			entries[name] = e
		}
		return true
	})

	return entries[name], err
}

func (f *follower) worked(work int) error {
	if f.work += work; f.work > maxFollowed {
		return tooLarge("The links that the pull request changes take too long to follow.")
	}

	return nil
}

// text is what is in a link; "" when it is no path, or is not here.
func (f *follower) text(ctx context.Context, oid OID) (text string, err error) {
	if err := f.worked(readWork); err != nil {
		return "", err
	}
	f.repo.ask(queryContents, oid)
	err = f.repo.next(ctx, func(obj object, content io.Reader) error {
		switch {
		case obj.kind == "":
			f.lacks = append(f.lacks, oid)
			return nil
		case obj.size > maxTarget:
			return nil
		}
		data, err := obj.read("blob", content, maxTarget)
		text = string(data)
		return err
	})

	return text, err
}
