package account

import "context"

// Occupy takes all places of those that hash passwords.
func Occupy(p *Passwords) (free func()) {
	_ = p.slots.Acquire(context.Background(), maxHashing)

	return func() { p.slots.Release(maxHashing) }
}
