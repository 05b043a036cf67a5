package structure

import "github.com/prwarden/prwarden/internal/syntax"

// variables is, for each token, how many before it can't be a part of a constant.
func (f *File) variables() []int32 {
	if f.vary != nil {
		return f.vary
	}
	c := &constants{File: f, names: map[string]*binding{}}
	c.collect()
	c.spread()
	f.vary = make([]int32, len(f.Tokens)+1)
	for i := range f.Tokens {
		f.vary[i+1] = f.vary[i]
		if c.varies(i) {
			f.vary[i+1]++
		}
	}

	return f.vary
}

// binding is what is known of a name.
type binding struct {
	varies bool
	users  []*binding // in what they are assigned it stands
}

// constants finds the names that a file assigns only constants.
type constants struct {
	*File
	names map[string]*binding
	work  []*binding // that vary, and whose users were not told
}

func (c *constants) of(i int) *binding {
	b := c.names[string(c.Of(i))]
	if b == nil {
		b = &binding{}
		c.names[string(c.Of(i))] = b
	}

	return b
}

func (c *constants) vary(b *binding) {
	if !b.varies {
		b.varies = true
		c.work = append(c.work, b)
	}
}

func (c *constants) spread() {
	for len(c.work) > 0 {
		b := c.work[len(c.work)-1]
		c.work = c.work[:len(c.work)-1]
		for _, user := range b.users {
			c.vary(user)
		}
	}
}

func (c *constants) varies(i int) bool { return c.Tokens[i].Kind == syntax.Name }

func (c *constants) collect() {}
