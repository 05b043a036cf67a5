package taint

import (
	"bytes"
	"cmp"
	"slices"
)

// path is a name, or one joined to another as in `a.b`, by its index in state.values.
// 0 is none.
type path = int32

// join is how a path is made.
type join struct {
	parent path
	name   int32
}

// value is what is known of a path.
type value struct {
	node  int32 // where its value comes from; 0 when it is clean
	time  int32 // of the assignment; 0 for none
	frame int32 // in which its earlier value was noted last
	up    path
}

// state is what is known of names at a place of the text.
type state struct {
	names   map[string]int32
	paths   map[join]path
	values  []value
	now     int32
	log     []change
	frames  []frame
	waits   []frame // whose next branch may follow
	serial  int32
	barrier int32 // what was assigned before is not seen
}

// change is the value that a path had before a frame.
type change struct {
	path path
	old  value
}

// maxFrames bounds how many branches and functions are in each other. What is deeper
// only taints and clears nothing.
const maxFrames = 64

// frame is a function, or statements that may not be executed.
type frame struct {
	serial   int32
	log      int // length at its begin
	isFunc   bool
	hits     int   // of a function: length of walker.hits at its begin
	barrier  int32 // of a function: as it was outside
	locals   map[path]bool
	deltas   []change // what branches assigned, with the values at their ends
	branches int
	isWhole  bool // one of the branches is executed
	exits    bool // the branch ends with return or the like
	isSwitch bool
}

func newState() state {
	return state{
		names: map[string]int32{}, paths: map[join]path{}, values: make([]value, 1, 64), now: 1,
		frames: []frame{{isFunc: true}},
	}
}

// pathOf is a path that is known; 0 for none.
func (s *state) pathOf(parent path, name []byte) path {
	if id, ok := s.names[string(name)]; ok {
		return s.paths[join{parent, id}]
	}

	return 0
}

// makePath is a path, made when it is not known.
func (s *state) makePath(parent path, name []byte) path {
	id, ok := s.names[string(name)]
	if !ok {
		id = int32(len(s.names))
		s.names[string(bytes.Clone(name))] = id
	}
	key := join{parent, id}
	p, ok := s.paths[key]
	if !ok {
		p = path(len(s.values))
		s.paths[key] = p
		s.values = append(s.values, value{up: parent})
	}

	return p
}

// get returns where the value of a path comes from, by itself or by what it is a part
// of; 0 when it is clean.
func (s *state) get(p path) int32 {
	var chain [maxJoined]path
	n := 0
	for ; p != 0 && n < maxJoined; p = s.values[p].up {
		chain[n] = p
		n++
	}
	time, at := s.barrier, int32(0)
	for n--; n >= 0; n-- {
		if v := s.values[chain[n]]; v.time > time {
			time, at = v.time, v.node
		}
		if at != 0 {
			return at
		}
	}

	return 0
}

// maxJoined is how many names of a path are told apart.
const maxJoined = 4

// set gives a path a value. A weak one doesn't clear what is tainted.
func (s *state) set(p path, node int32, isWeak bool) {
	if isWeak && (node == 0 || s.values[p].node != 0 && s.values[p].time > s.barrier) {
		return
	}
	s.put(p, node, !isWeak)
}

func (s *state) put(p path, node int32, isNew bool) {
	f := &s.frames[len(s.frames)-1]
	v := &s.values[p]
	if v.frame != f.serial {
		s.log = append(s.log, change{p, *v})
		v.frame = f.serial
	}
	v.node = node
	if isNew || v.time <= s.barrier {
		s.now++
		v.time = s.now
	}
}

// push begins a frame, when there is room for it.
func (s *state) push(f frame) bool {
	if len(s.frames) > maxFrames {
		return false
	}
	s.serial++
	f.serial, f.log = s.serial, len(s.log)
	s.frames = append(s.frames, f)

	return true
}

// isDeep says whether frames are missing.
func (s *state) isDeep() bool { return len(s.frames) > maxFrames }

// endBranch ends a branch of the innermost frame: everything is as it was before it.
func (s *state) endBranch() {
	f := &s.frames[len(s.frames)-1]
	for _, c := range s.log[f.log:] {
		if !f.exits {
			f.deltas = append(f.deltas, change{c.path, s.values[c.path]})
		}
		s.values[c.path] = c.old
	}
	s.log = s.log[:f.log]
	if !f.exits {
		f.branches++
	}
	f.exits = false
	s.serial++
	f.serial = s.serial // what the next branch assigns is noted again
}

// drop takes the innermost frame away, whose branches have ended.
func (s *state) drop() frame {
	k := len(s.frames) - 1
	f := s.frames[k]
	s.frames = s.frames[:k]

	return f
}

// merge has the values count that the branches of a frame gave.
func (s *state) merge(f frame) {
	if len(f.deltas) == 0 {
		return
	}
	type sum struct {
		count int
		node  int32
		time  int32
	}
	sums := map[path]sum{}
	for _, c := range f.deltas {
		x := sums[c.path]
		x.count++
		x.node = max(x.node, c.old.node)
		x.time = max(x.time, c.old.time)
		sums[c.path] = x
	}
	order := make([]path, 0, len(sums))
	for p := range sums {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b path) int {
		return cmp.Or(cmp.Compare(sums[a].time, sums[b].time), cmp.Compare(a, b))
	})

	for _, p := range order {
		x := sums[p]
		isWhole := f.isWhole && x.count >= f.branches
		if before := s.values[p]; !isWhole && x.node == 0 && before.time > s.barrier {
			x.node = before.node
		}
		s.put(p, x.node, isWhole && !s.isDeep())
	}
}

// leave ends a function. What it assigned to names of others, which the function around
// it has, may have been assigned.
func (s *state) leave(assignsOuter bool) frame {
	f := s.frames[len(s.frames)-1]
	changed := slices.Clone(s.log[f.log:])
	for i, c := range changed {
		changed[i].old, s.values[c.path] = s.values[c.path], c.old
	}
	s.log = s.log[:f.log]
	s.drop()
	s.barrier = f.barrier
	for _, c := range changed {
		isKnown := s.values[c.path].time > s.barrier
		if assignsOuter && isKnown && c.old.node != 0 && !f.locals[c.path] {
			s.set(c.path, c.old.node, true)
		}
	}

	return f
}
