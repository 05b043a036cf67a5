package githubfake

import (
	"slices"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Push makes a commit the head. After a forced push the one before isn't known any more.
func (f *Fake) Push(sha string, force bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if force {
		delete(f.commits, f.head)
	}
	f.head = sha
	f.commits[sha] = true
}

// Rename gives the repository another name.
func (f *Fake) Rename(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.old = append(f.old, f.name)
	f.name = name
}

// SetState closes, merges or reopens the pull request.
func (f *Fake) SetState(s codehost.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = s
}

// SetDraft sets what the pull request is besides its state.
func (f *Fake) SetDraft(draft, fork bool, labels ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.draft, f.fork, f.labels = draft, fork, labels
}

// Reply has somebody answer a thread.
func (f *Fake) Reply(to codehost.Ref, author string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.byRef(to).thread
	t.replies = append(t.replies, author)
}

// Close has somebody resolve a thread.
func (f *Fake) Close(c codehost.Ref, by string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.byRef(c).thread
	t.resolved, t.resolvedBy = true, by
}

// Minimize has somebody minimise a comment.
func (f *Fake) Minimize(c codehost.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.byRef(c).minimized = true
}

// Delete has somebody delete a comment.
func (f *Fake) Delete(c codehost.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := f.byRef(c)
	f.comments = slices.DeleteFunc(f.comments, func(c *comment) bool { return c == gone })
}

// Leave leaves a review behind that was not sent.
func (f *Fake) Leave(comments int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pendingID = f.id()
	for i := range comments {
		f.add(hosttest.Account, hosttest.Path, i%hosttest.Lines+1, codehost.Marker("unsent")).pending = true
	}
}

// Draft has a person begin a review from our account, and not send it.
func (f *Fake) Draft(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pendingID = f.id()
	f.add(hosttest.Account, hosttest.Path, 1, text).pending = true
}

// Drafts is how many comments wait to be sent.
func (f *Fake) Drafts() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.comments {
		if c.pending {
			n++
		}
	}

	return n
}

// AddRepositories adds ones that the credentials reach.
func (f *Fake) AddRepositories(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repos += n
}

// AddPulls adds open pull requests.
func (f *Fake) AddPulls(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pulls += n
}

// Revoke makes credentials worthless.
func (f *Fake) Revoke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revoked = true
}

// Forget makes the tokens that were minted worthless, not the key.
func (f *Fake) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.tokens)
	f.generation++
}

// Restrict lets credentials only read.
func (f *Fake) Restrict() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restricted = true
	f.scopes = ""
	for name := range f.permissions {
		f.permissions[name] = "read"
	}
}

// Suspend suspends the installation, and Remove removes it.
func (f *Fake) Suspend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.suspended = true
	clear(f.tokens)
}

// Remove removes the installation.
func (f *Fake) Remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removed = true
	clear(f.tokens)
}

// Grant gives the App a permission.
func (f *Fake) Grant(name, level string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.permissions[name] = level
}
