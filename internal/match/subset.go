package match

// Looks says whether the rule with an index looks at the file.
func (f *File) Looks(rule int) bool { return f.looks(uint32(rule)) }

// Subset is the file as only those of its rules look at it that keep names. It is
// nil when there is none.
func (f *File) Subset(keep func(rule int) bool) *File {
	off := make([]bool, f.session.matcher.Len())
	empty := true
	for rule := range off {
		off[rule] = !f.Looks(rule) || !keep(rule)
		empty = empty && off[rule]
	}
	if empty {
		return nil
	}

	return &File{
		session: f.session, limit: f.limit, groups: f.groups, off: off, seams: f.seams, isNew: f.isNew, reader: f.reader,
	}
}

// Add adds what other rules found in the same file. The hits of both are not in
// order then.
func (r *Result) Add(other Result) {
	r.Hits = append(r.Hits, other.Hits...)
	for i, list := range other.Apart {
		r.Apart[i].Hits = append(r.Apart[i].Hits, list.Hits...)
		r.Apart[i].Count += list.Count
	}
	r.Stopped = append(r.Stopped, other.Stopped...)

	if r.Counts == nil {
		r.Counts = map[int]int{}
	}
	for rule, n := range other.Counts {
		r.Counts[rule] += n
	}
}
